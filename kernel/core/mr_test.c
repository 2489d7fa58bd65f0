// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of mr.c, as kdp_core exports it, on a fake device. */
#include <kunit/test.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>

#include "fake_ib.h"

#define TEST_PAGES	8
/* Where the segments of the tests begin: any page will do, nothing is accessed. */
#define TEST_DMA	0x123456000ULL

struct mr_world {
	struct kdp_device	dev;
	struct kdp_fake_ib	*fake;
	struct kdp_mr_pool	*pool;		/* of one MR of TEST_PAGES */
	struct ib_mr		*mr;
	struct ib_cqe		cqe;
	struct ib_reg_wr	wr;
	struct scatterlist	sgl[TEST_PAGES + 1];
};

static int mr_test_init(struct kunit *test)
{
	struct mr_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->fake = kdp_fake_create(&w->dev);
	KUNIT_ASSERT_NOT_NULL(test, w->fake);
	test->priv = w;
	w->pool = kdp_mr_pool_create(&w->dev, 1, TEST_PAGES);
	if (IS_ERR(w->pool)) {
		w->pool = NULL;
		return -ENOMEM;
	}
	w->mr = w->pool->mr[0];
	sg_init_table(w->sgl, ARRAY_SIZE(w->sgl));
	return 0;
}

static void mr_test_exit(struct kunit *test)
{
	struct mr_world *w = test->priv;

	if (!w)
		return;
	if (w->pool)
		kdp_mr_pool_destroy(w->pool);
	KUNIT_EXPECT_EQ(test, w->fake->mrs, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->dev.pd->usecnt), 0);
	kdp_fake_destroy(&w->dev);
}

static void set_segment(struct mr_world *w, int i, u64 addr, unsigned int len)
{
	sg_dma_address(&w->sgl[i]) = addr;
	sg_dma_len(&w->sgl[i]) = len;
}

/* @nents whole pages, none next to another. */
static void set_pages(struct mr_world *w, int nents)
{
	for (int i = 0; i < nents; i++)
		set_segment(w, i, TEST_DMA + 2 * i * SZ_4K, SZ_4K);
}

static int map(struct mr_world *w, int nents)
{
	return kdp_mr_map(w->mr, w->sgl, nents, SZ_4K, IB_ACCESS_REMOTE_READ, &w->cqe, &w->wr);
}

static const unsigned int pool_sizes[] = { 0, 1, 2, 127, 1023 };

static void describe_size(const unsigned int *n, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "%u MRs", *n);
}

KUNIT_ARRAY_PARAM(pool_sizes, pool_sizes, describe_size);

static void pool_has_what_was_asked_for(struct kunit *test)
{
	const unsigned int *nr = test->param_value;
	struct mr_world *w = test->priv;
	struct kdp_mr_pool *pool;

	pool = kdp_mr_pool_create(&w->dev, *nr, 257);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pool);
	KUNIT_EXPECT_EQ(test, pool->nr, *nr);
	KUNIT_EXPECT_EQ(test, w->fake->mrs, 1 + *nr);
	for (unsigned int i = 0; i < *nr; i++) {
		KUNIT_ASSERT_NOT_NULL(test, pool->mr[i]);
		KUNIT_EXPECT_EQ(test, pool->mr[i]->type, IB_MR_TYPE_MEM_REG);
		KUNIT_EXPECT_PTR_EQ(test, pool->mr[i]->pd, w->dev.pd);
		KUNIT_EXPECT_EQ(test, to_kdp_fake_mr(pool->mr[i])->max_pages, 257);
		/* its own: keys differ in what a new key does not change */
		KUNIT_EXPECT_EQ(test, pool->mr[i]->rkey >> 8, i + 2);
	}
	kdp_mr_pool_destroy(pool);
	KUNIT_EXPECT_EQ(test, w->fake->mrs, 1);
}

/* Whichever fails: the device's errno, and those that there are go back. */
static void pool_failing_half_way_gives_all_back(struct kunit *test)
{
	struct mr_world *w = test->priv;
	struct kdp_mr_pool *pool;

	w->fake->mr_error = -EDQUOT;
	for (unsigned int n = 1; n <= 9; n++) {
		w->fake->mr_allocs = 0;
		w->fake->mr_fails_at = n;
		pool = kdp_mr_pool_create(&w->dev, 9, TEST_PAGES);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(pool), -EDQUOT, "number %u", n);
		KUNIT_EXPECT_EQ_MSG(test, w->fake->mrs, 1, "number %u", n);
		KUNIT_EXPECT_EQ_MSG(test, w->fake->mr_allocs, n, "it goes on after number %u", n);
		if (!IS_ERR(pool))
			kdp_mr_pool_destroy(pool);
	}
}

static void pages_are_the_smaller_of_wanted_and_possible(struct kunit *test)
{
	struct mr_world *w = test->priv;

	w->fake->ib.attrs.max_fast_reg_page_list_len = 256;
	KUNIT_EXPECT_EQ(test, kdp_mr_pages(&w->dev, 257), 256);
	KUNIT_EXPECT_EQ(test, kdp_mr_pages(&w->dev, 256), 256);
	KUNIT_EXPECT_EQ(test, kdp_mr_pages(&w->dev, 255), 255);
}

static void map_fills_the_work_request(struct kunit *test)
{
	struct mr_world *w = test->priv;
	struct kdp_fake_mr *mr = to_kdp_fake_mr(w->mr);

	set_segment(w, 0, TEST_DMA + 512, SZ_4K - 512);
	set_segment(w, 1, TEST_DMA + 3 * SZ_4K, 2 * SZ_4K);
	set_segment(w, 2, TEST_DMA + 7 * SZ_4K, 100);
	memset(&w->wr, 0x5a, sizeof(w->wr));
	KUNIT_ASSERT_EQ(test, map(w, 3), 0);

	KUNIT_EXPECT_EQ(test, w->wr.wr.opcode, IB_WR_REG_MR);
	KUNIT_EXPECT_PTR_EQ(test, w->wr.wr.wr_cqe, &w->cqe);
	KUNIT_EXPECT_NULL(test, w->wr.wr.next);
	KUNIT_EXPECT_EQ(test, w->wr.wr.send_flags, 0);
	KUNIT_EXPECT_EQ(test, w->wr.wr.num_sge, 0);
	KUNIT_EXPECT_PTR_EQ(test, w->wr.mr, w->mr);
	KUNIT_EXPECT_EQ(test, w->wr.key, w->mr->rkey);

	KUNIT_EXPECT_EQ(test, w->mr->iova, TEST_DMA + 512);
	KUNIT_EXPECT_EQ(test, w->mr->length, SZ_4K - 512 + 2 * SZ_4K + 100);
	KUNIT_EXPECT_EQ(test, w->mr->page_size, SZ_4K);
	KUNIT_ASSERT_EQ(test, mr->nr_pages, 4);
	KUNIT_EXPECT_EQ(test, mr->pages[0], TEST_DMA);
	KUNIT_EXPECT_EQ(test, mr->pages[1], TEST_DMA + 3 * SZ_4K);
	KUNIT_EXPECT_EQ(test, mr->pages[2], TEST_DMA + 4 * SZ_4K);
	KUNIT_EXPECT_EQ(test, mr->pages[3], TEST_DMA + 7 * SZ_4K);
}

/* All 256 keys that a device lets us make, then the first again. */
static void each_map_has_a_fresh_key(struct kunit *test)
{
	struct mr_world *w = test->priv;
	u32 first = w->mr->rkey;

	set_pages(w, 1);
	for (unsigned int i = 1; i <= 600; i++) {
		u32 want = (first & ~0xffU) | ((first + i) & 0xff);

		KUNIT_ASSERT_EQ(test, map(w, 1), 0);
		KUNIT_ASSERT_EQ(test, w->mr->rkey, want);
		KUNIT_ASSERT_EQ(test, w->mr->lkey, want);
		KUNIT_ASSERT_EQ(test, w->wr.key, want);
	}
}

static const int accesses[] = {
	IB_ACCESS_REMOTE_READ,
	IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
};

static void map_gives_the_access_asked_for(struct kunit *test)
{
	struct mr_world *w = test->priv;

	set_pages(w, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(accesses); i++) {
		KUNIT_ASSERT_EQ(test, kdp_mr_map(w->mr, w->sgl, 1, SZ_4K, accesses[i], &w->cqe,
					    &w->wr), 0);
		KUNIT_EXPECT_EQ(test, w->wr.access, accesses[i]);
	}
}

static void map_takes_as_many_pages_as_the_mr_has(struct kunit *test)
{
	struct mr_world *w = test->priv;

	for (int nents = 1; nents <= TEST_PAGES; nents++) {
		set_pages(w, nents);
		KUNIT_EXPECT_EQ(test, map(w, nents), 0);
		KUNIT_EXPECT_EQ(test, w->mr->length, nents * SZ_4K);
	}
	set_pages(w, TEST_PAGES + 1);
	KUNIT_EXPECT_EQ(test, map(w, TEST_PAGES + 1), -EINVAL);
	/* in one piece, and in one that needs a page more */
	set_segment(w, 0, TEST_DMA, TEST_PAGES * SZ_4K);
	KUNIT_EXPECT_EQ(test, map(w, 1), 0);
	set_segment(w, 0, TEST_DMA + 4, TEST_PAGES * SZ_4K);
	KUNIT_EXPECT_EQ(test, map(w, 1), -EINVAL);
	set_segment(w, 0, TEST_DMA, TEST_PAGES * SZ_4K + 1);
	KUNIT_EXPECT_EQ(test, map(w, 1), -EINVAL);
}

static void map_refuses_a_gap(struct kunit *test)
{
	struct mr_world *w = test->priv;

	/* the first ends, a middle one ends, a later one begins off a page */
	set_pages(w, 3);
	set_segment(w, 0, TEST_DMA, 512);
	KUNIT_EXPECT_EQ(test, map(w, 3), -EINVAL);
	set_pages(w, 3);
	set_segment(w, 1, TEST_DMA + 2 * SZ_4K, SZ_4K - 4);
	KUNIT_EXPECT_EQ(test, map(w, 3), -EINVAL);
	set_pages(w, 3);
	set_segment(w, 2, TEST_DMA + 4 * SZ_4K + 4, SZ_4K - 4);
	KUNIT_EXPECT_EQ(test, map(w, 3), -EINVAL);
	/* the MR is as good as before */
	set_pages(w, 3);
	KUNIT_EXPECT_EQ(test, map(w, 3), 0);
}

static void map_passes_on_what_the_device_says(struct kunit *test)
{
	struct mr_world *w = test->priv;
	u32 key;

	set_pages(w, 2);
	w->fake->map_error = -EIO;
	KUNIT_EXPECT_EQ(test, map(w, 2), -EIO);
	w->fake->map_error = 1;
	KUNIT_EXPECT_EQ(test, map(w, 2), -EINVAL);
	w->fake->map_error = 0;
	/* no key that a map which failed might have given away */
	key = w->mr->rkey;
	KUNIT_EXPECT_EQ(test, map(w, 2), 0);
	KUNIT_EXPECT_NE(test, w->wr.key, key);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE_PARAM(pool_has_what_was_asked_for, pool_sizes_gen_params),
	KUNIT_CASE(pool_failing_half_way_gives_all_back),
	KUNIT_CASE(pages_are_the_smaller_of_wanted_and_possible),
	KUNIT_CASE(map_fills_the_work_request),
	KUNIT_CASE(each_map_has_a_fresh_key),
	KUNIT_CASE(map_gives_the_access_asked_for),
	KUNIT_CASE(map_takes_as_many_pages_as_the_mr_has),
	KUNIT_CASE(map_refuses_a_gap),
	KUNIT_CASE(map_passes_on_what_the_device_says),
	{}
};

static struct kunit_suite mr_suite = {
	.name		= "kdp_mr",
	.init		= mr_test_init,
	.exit		= mr_test_exit,
	.test_cases	= mr_cases,
};

kunit_test_suite(mr_suite);
