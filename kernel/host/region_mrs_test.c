// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: how a region is divided among MRs. Whatever its pages look like, each command's data
 * lie in one MR, at the address that the device calls them.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "region_mrs.c"

/* region_pages.c's: there are none here. */
void kdp_pages_release(struct kdp_pages *pages)
{
}

#define TEST_SEGMENTS	64

struct mrs_world {
	struct ib_device	ib;
	struct kdp_device	dev;
	struct kdp_region_mrs	mrs;
	struct scatterlist	segments[TEST_SEGMENTS];
	struct ib_sge		sge[TEST_SEGMENTS];
	struct rnd_state	random;
	u64			length;
	u32			max_transfer;
};

static u32 up_to(struct mrs_world *w, u32 most)
{
	return prandom_u32_state(&w->random) % (most + 1);
}

/*
 * Segments of whole multiples of @unit at multiples of it, but for the first byte, @head behind
 * the first, and the end, @tail before the last.
 */
static void make_segments(struct mrs_world *w, unsigned int nr, u32 unit, u32 head, u32 tail)
{
	u64 addr = SZ_4G;
	unsigned int i;

	w->length = 0;
	sg_init_table(w->segments, nr);
	for (i = 0; i < nr; i++) {
		u32 len = unit * (1 + up_to(w, 7));

		sg_dma_address(&w->segments[i]) = addr;
		sg_dma_len(&w->segments[i]) = len;
		addr += len + (u64)unit * (1 + up_to(w, 3));
	}
	sg_dma_address(&w->segments[0]) += head;
	sg_dma_len(&w->segments[0]) -= head;
	sg_dma_len(&w->segments[nr - 1]) -= tail;
	for (i = 0; i < nr; i++)
		w->length += sg_dma_len(&w->segments[i]);
	w->mrs = (struct kdp_region_mrs) {
		.dev = &w->dev,
		.sgt = { .sgl = w->segments, .nents = nr, .orig_nents = nr },
	};
}

/* What the device calls the byte at @offset. */
static u64 device_address(const struct mrs_world *w, u64 offset)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(&w->mrs.sgt, sg, i) {
		if (offset < sg_dma_len(sg))
			return sg_dma_address(sg) + offset;
		offset -= sg_dma_len(sg);
	}
	return 0;
}

static void divide(struct kunit *test, struct mrs_world *w)
{
	w->mrs.shift = kdp_mrs_best_shift(&w->mrs, w->length);
	KUNIT_ASSERT_EQ(test, kdp_mrs_list(&w->mrs, w->length), 0);
	kdp_mrs_divide(&w->mrs, w->max_transfer);
}

/*
 * MRs as a device makes them of what kdp_mrs_segments() says: the first address is that of the
 * first byte, and they hold so many entries at most.
 */
static void make_mrs(struct kunit *test, struct mrs_world *w)
{
	struct kdp_region_mrs *mrs = &w->mrs;
	struct scatterlist *sg;
	unsigned int i, n, k;
	u64 bytes;

	mrs->mr = kunit_kcalloc(test, mrs->nr, sizeof(*mrs->mr), GFP_KERNEL);
	sg = kunit_kcalloc(test, mrs->mr_entries, sizeof(*sg), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mrs->mr);
	KUNIT_ASSERT_NOT_NULL(test, sg);
	for (i = 0; i < mrs->nr; i++) {
		mrs->mr[i] = kunit_kzalloc(test, sizeof(*mrs->mr[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, mrs->mr[i]);
		sg_init_table(sg, mrs->mr_entries);
		n = kdp_mrs_segments(mrs, i, w->length, sg);
		KUNIT_ASSERT_GT(test, n, 0);
		KUNIT_ASSERT_LE(test, n, mrs->mr_entries);
		mrs->mr[i]->iova = sg_dma_address(&sg[0]);
		for (bytes = k = 0; k < n; k++) {
			/* each entry is where the device has these bytes */
			KUNIT_ASSERT_EQ(test, sg_dma_address(&sg[k]),
					device_address(w, kdp_mrs_start(mrs, i) + bytes));
			bytes += sg_dma_len(&sg[k]);
		}
		mrs->mr[i]->length = bytes;
	}
}

/* The pieces of a command's data are what the device has there, and all. */
static void in_pieces(struct kunit *test, struct mrs_world *w, u64 offset, u32 length)
{
	struct ib_sge *sge = w->sge;
	unsigned int n, i;
	u64 sum = 0;

	n = kdp_region_pieces(&w->mrs, offset, length, sge, ARRAY_SIZE(w->sge));
	KUNIT_ASSERT_GT(test, n, 0);
	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_EQ(test, sge[i].addr, device_address(w, offset + sum));
		KUNIT_ASSERT_EQ(test, sge[i].addr + sge[i].length - 1,
				device_address(w, offset + sum + sge[i].length - 1));
		sum += sge[i].length;
	}
	KUNIT_ASSERT_EQ(test, sum, length);
	if (n > 1)
		KUNIT_ASSERT_EQ(test, kdp_region_pieces(&w->mrs, offset, length, sge, n - 1), 0);
}

/* Where a command's data lie. An MR's addresses go on without gaps, whatever the pages'. */
static void lies_in_one(struct kunit *test, struct mrs_world *w, u64 offset, u32 length)
{
	const struct ib_mr *mr;
	u64 iova = 0, start;
	unsigned int i;

	mr = kdp_region_mr(&w->mrs, offset, length, &iova);
	KUNIT_ASSERT_NOT_NULL(test, mr);
	for (i = 0; w->mrs.mr[i] != mr; i++)
		;
	start = kdp_mrs_start(&w->mrs, i);
	KUNIT_ASSERT_GE(test, offset, start);
	KUNIT_ASSERT_EQ(test, iova - mr->iova, offset - start);
	KUNIT_ASSERT_LE(test, offset - start + length, mr->length);
	in_pieces(test, w, offset, length);
}

static void every_command_fits(struct kunit *test, struct mrs_world *w)
{
	u32 most = min_t(u64, w->max_transfer, w->length), length;
	unsigned int i;

	make_mrs(test, w);
	for (i = 0; i < 200; i++) {
		length = 1 + up_to(w, most - 1);
		lies_in_one(test, w, up_to(w, w->length - length), length);
	}
	/* the longest, at either end, and over each of the MRs' ends */
	lies_in_one(test, w, 0, most);
	lies_in_one(test, w, w->length - most, most);
	for (i = 1; i < w->mrs.nr; i++) {
		u64 start = kdp_mrs_start(&w->mrs, i);

		length = min_t(u64, most, w->length - start + 1);
		lies_in_one(test, w, start - 1, length);
		lies_in_one(test, w, start, length - 1);
	}
	kvfree(w->mrs.entries);
}

static void mrs_random(struct kunit *test)
{
	static const u32 units[] = { SZ_4K, SZ_8K, SZ_64K, SZ_2M };
	struct mrs_world *w = test->priv;
	unsigned int i;

	for (i = 0; i < 300; i++) {
		u32 unit = units[up_to(w, ARRAY_SIZE(units) - 1)];
		u32 head = up_to(w, unit - 1), tail = up_to(w, unit - 1);

		w->ib.attrs.max_fast_reg_page_list_len = 512U >> up_to(w, 4);
		/* what one command moves is less than half of an MR here */
		w->max_transfer = w->ib.attrs.max_fast_reg_page_list_len / 2 * SZ_4K >> up_to(w, 3);
		make_segments(w, 2 + up_to(w, TEST_SEGMENTS - 2), unit, head, tail);
		divide(test, w);
		KUNIT_EXPECT_GE(test, kdp_mrs_entry_size(&w->mrs), unit);
		every_command_fits(test, w);
	}
}

/* One piece: entries no larger than it, however it is aligned. */
static void mrs_contiguous(struct kunit *test)
{
	struct mrs_world *w = test->priv;

	w->ib.attrs.max_fast_reg_page_list_len = 512;
	w->max_transfer = SZ_1M;
	make_segments(w, 1, SZ_2M, 512, 1024);
	divide(test, w);
	KUNIT_EXPECT_GE(test, kdp_mrs_entry_size(&w->mrs), SZ_1M);
	KUNIT_EXPECT_EQ(test, w->mrs.nr, 1);
	every_command_fits(test, w);

	make_segments(w, 1, SZ_4K, 12, 0);
	divide(test, w);
	KUNIT_EXPECT_LE(test, kdp_mrs_entry_size(&w->mrs), roundup_pow_of_two(w->length));
	every_command_fits(test, w);
}

/* A size that the device does not have is not used. */
static void mrs_device_sizes(struct kunit *test)
{
	struct mrs_world *w = test->priv;

	w->ib.attrs.page_size_cap = SZ_4K | SZ_64K;
	w->ib.attrs.max_fast_reg_page_list_len = 512;
	w->max_transfer = SZ_1M;
	make_segments(w, 8, SZ_2M, 0, 0);
	divide(test, w);
	KUNIT_EXPECT_EQ(test, kdp_mrs_entry_size(&w->mrs), SZ_64K);
	every_command_fits(test, w);
}

/* An MR that is hardly longer than a command: some lie in none, and are told so. */
static void mrs_too_short(struct kunit *test)
{
	struct mrs_world *w = test->priv;
	u64 iova;

	w->ib.attrs.max_fast_reg_page_list_len = 8;
	w->max_transfer = SZ_32K;
	make_segments(w, 16, SZ_4K, 0, 0);
	divide(test, w);
	make_mrs(test, w);
	KUNIT_EXPECT_GT(test, w->mrs.nr, 1);
	KUNIT_EXPECT_NOT_NULL(test, kdp_region_mr(&w->mrs, 0, SZ_32K, &iova));
	KUNIT_EXPECT_NULL(test, kdp_region_mr(&w->mrs, 3 * SZ_4K, SZ_32K, &iova));
	KUNIT_EXPECT_NOT_NULL(test, kdp_region_mr(&w->mrs, 3 * SZ_4K, SZ_16K, &iova));
	kvfree(w->mrs.entries);
}

static int mrs_init(struct kunit *test)
{
	struct mrs_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	if (!w)
		return -ENOMEM;
	w->dev.ib = &w->ib;
	w->ib.attrs.page_size_cap = ~0ULL;
	prandom_seed_state(&w->random, 4711);
	test->priv = w;
	return 0;
}

static struct kunit_case mrs_cases[] = {
	KUNIT_CASE(mrs_random),
	KUNIT_CASE(mrs_contiguous),
	KUNIT_CASE(mrs_device_sizes),
	KUNIT_CASE(mrs_too_short),
	{}
};

static struct kunit_suite mrs_suite = {
	.name		= "kdp_region_mrs",
	.init		= mrs_init,
	.test_cases	= mrs_cases,
};

kunit_test_suite(mrs_suite);
