// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of ns_identity.c: which namespaces live on after a reconnect, whatever the controller
 * answers. What it answers, the test says: kdp_identify() is here.
 */
#include <kunit/test.h>

#include "host.h"

#include "ns_identity.c"

#define TEST_NAMESPACES	3
#define TRANSIENT	NVMF_SC_NS_NOT_READY

/* What the controller tells of a namespace. */
struct told {
	int		errors[KDP_IDENTIFY_TRIES];	/* of the first, second, third time */
	int		list_error;
	u64		blocks;
	u8		lba_shift;
	u8		eui64, nguid;			/* the first byte of each, 0: not told */
	u8		uuid;
	u8		uuid_length;
	unsigned int	asked;
};

struct ns_world {
	struct kunit	*test;
	struct kdp_ctrl	ctrl;
	struct kdp_ns	ns[TEST_NAMESPACES];
	struct told	told[TEST_NAMESPACES + 1];	/* by number */
};

int kdp_identify(struct kdp_ctrl *ctrl, u8 cns, u32 nsid, void *buffer)
{
	struct ns_world *w = container_of(ctrl, struct ns_world, ctrl);
	struct told *told = &w->told[nsid];
	u8 *page = buffer;
	int err;

	KUNIT_ASSERT_LE(w->test, nsid, TEST_NAMESPACES);
	memset(page, 0, NVMF_IDENTIFY_SIZE);
	if (cns == NVMF_CNS_NS_DESCRIPTORS) {
		page[0] = NVMF_NIDT_UUID;
		page[1] = told->uuid ? told->uuid_length : 0;
		page[NVMF_NID_HEADER] = told->uuid;
		return told->list_error;
	}
	KUNIT_ASSERT_LT(w->test, told->asked, KDP_IDENTIFY_TRIES);
	err = told->errors[told->asked++];
	if (err)
		return err;
	page[0] = told->blocks;
	page[104] = told->nguid;
	page[120] = told->eui64;
	page[130] = told->lba_shift;
	return 0;
}

static void release_nothing(struct device *dev)
{
}

static int ns_world_init(struct kunit *test)
{
	struct ns_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	test->priv = w;
	w->test = test;
	w->ctrl.dev.init_name = "kdp_test";
	mutex_init(&w->ctrl.ns_lock);
	INIT_LIST_HEAD(&w->ctrl.namespaces);
	for (unsigned int i = 0; i < TEST_NAMESPACES; i++) {
		struct kdp_ns *ns = &w->ns[i];
		struct told *told = &w->told[i + 1];

		*told = (struct told) { .blocks = 100, .lba_shift = 9, .eui64 = 1, .uuid = i + 1,
					.uuid_length = 16 };
		device_initialize(&ns->dev);
		ns->dev.release = release_nothing;
		ns->ctrl = &w->ctrl;
		ns->nsid = i + 1;
		ns->info.blocks = told->blocks;
		ns->info.lba_shift = told->lba_shift;
		ns->info.eui64[0] = told->eui64;
		ns->info.uuid[0] = told->uuid;
		/* not in the order of their numbers */
		list_add(&ns->entry, &w->ctrl.namespaces);
	}
	return 0;
}

static void ns_world_exit(struct kunit *test)
{
	struct ns_world *w = test->priv;

	for (unsigned int i = 0; w && i < TEST_NAMESPACES; i++) {
		KUNIT_EXPECT_EQ(test, kref_read(&w->ns[i].dev.kobj.kref), 1);
		put_device(&w->ns[i].dev);
	}
}

/* The second's fate; the others live. */
static void expect_dead(struct ns_world *w, bool dead)
{
	KUNIT_EXPECT_EQ(w->test, kdp_ns_revalidate(&w->ctrl), 0);
	KUNIT_EXPECT_FALSE(w->test, w->ns[0].dead);
	KUNIT_EXPECT_EQ(w->test, w->ns[1].dead, dead);
	KUNIT_EXPECT_FALSE(w->test, w->ns[2].dead);
}

static void expect_asked(struct ns_world *w, unsigned int one, unsigned int two,
			 unsigned int three)
{
	KUNIT_EXPECT_EQ(w->test, w->told[1].asked, one);
	KUNIT_EXPECT_EQ(w->test, w->told[2].asked, two);
	KUNIT_EXPECT_EQ(w->test, w->told[3].asked, three);
}

static void the_same_live_on(struct kunit *test)
{
	struct ns_world *w = test->priv;

	expect_dead(w, false);
	expect_asked(w, 1, 1, 1);
	KUNIT_EXPECT_EQ(test, w->ctrl.ns_epoch, 1);
	/* each connection asks anew */
	expect_dead(w, false);
	expect_asked(w, 2, 2, 2);
	KUNIT_EXPECT_EQ(test, w->ctrl.ns_epoch, 2);
}

struct change {
	const char	*name;
	struct told	told;
	bool		dies;
};

/* What is told of one of 100 blocks of 512 bytes, but for what differs. */
#define TOLD(eui, ng, uu, ...) { .blocks = 100, .lba_shift = 9, .eui64 = (eui), .nguid = (ng), \
				 .uuid = (uu), .uuid_length = 16, __VA_ARGS__ }
#define TOLD_SIZE(nr, shift) { .blocks = (nr), .lba_shift = (shift), .eui64 = 1, .uuid = 2, \
			       .uuid_length = 16 }
#define TOLD_LIST(error, length) { .blocks = 100, .lba_shift = 9, .eui64 = 1, .uuid = 2, \
				   .uuid_length = (length), .list_error = (error) }

static const struct change changes[] = {
	{ "not there: invalid namespace", TOLD(1, 0, 2, .errors = { NVMF_SC_INVALID_NS }), true },
	{ "not there: DNR", TOLD(1, 0, 2, .errors = { TRANSIENT | NVMF_SC_DNR }), true },
	{ "inactive", TOLD_SIZE(0, 9), true },
	{ "another EUI64", TOLD(2, 0, 2), true },
	{ "another UUID", TOLD(1, 0, 9), true },
	{ "no EUI64 any more", TOLD(0, 0, 2), true },
	{ "no UUID any more", TOLD(1, 0, 0), true },
	{ "an NGUID that it did not have", TOLD(1, 1, 2), true },
	{ "list unsupported by now", TOLD_LIST(NVMF_SC_INVALID_FIELD, 16), true },
	{ "list that makes no sense", TOLD_LIST(0, 15), true },
	{ "list never ready", TOLD_LIST(TRANSIENT, 16), true },
	{ "another block size", TOLD_SIZE(100, 12), true },
	{ "a block size that is none", TOLD_SIZE(100, 3), true },
	{ "resized", TOLD_SIZE(7, 9), false },
	{ "once not ready", TOLD(1, 0, 2, .errors = { TRANSIENT }), false },
	{ "twice not ready", TOLD(1, 0, 2, .errors = { TRANSIENT, TRANSIENT }), false },
	{ "never ready", TOLD(1, 0, 2, .errors = { TRANSIENT, TRANSIENT, TRANSIENT }), true },
	{ "not ready, then another", TOLD(1, 0, 9, .errors = { TRANSIENT }), true },
};

static void describe_change(const struct change *c, char *text)
{
	strscpy(text, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(changes, changes, describe_change);

static void a_change_is_judged(struct kunit *test)
{
	const struct change *c = test->param_value;
	struct ns_world *w = test->priv;

	w->told[2] = c->told;
	expect_dead(w, c->dies);
	/* whoever has said who it is, is not asked again */
	KUNIT_EXPECT_EQ(test, w->told[1].asked, 1);
	KUNIT_EXPECT_EQ(test, w->told[3].asked, 1);
	/* a new capacity is for the scan to take over */
	KUNIT_EXPECT_EQ(test, w->ns[1].info.blocks, 100);
}

/* Nothing but its size tells one without identifiers from another. */
static void without_identifiers_the_size_tells(struct kunit *test)
{
	struct ns_world *w = test->priv;

	w->ns[1].info.eui64[0] = 0;
	w->ns[1].info.uuid[0] = 0;
	w->told[2].eui64 = 0;
	w->told[2].uuid = 0;
	expect_dead(w, false);
	w->told[2].blocks++;
	expect_dead(w, true);
}

static void the_dead_are_not_asked(struct kunit *test)
{
	struct ns_world *w = test->priv;

	w->ns[1].dead = true;
	expect_dead(w, true);
	expect_asked(w, 1, 0, 1);
}

/* The next connection asks again. */
static void a_broken_connection_kills_nobody(struct kunit *test)
{
	static const int errors[] = { -ECONNRESET, -ENOMEM, -ENODEV, -EIO };
	struct ns_world *w = test->priv;

	for (unsigned int i = 0; i < ARRAY_SIZE(errors); i++) {
		int want = errors[i] == -ENOMEM ? -ENOMEM : -ECONNRESET;

		for (unsigned int n = 1; n <= TEST_NAMESPACES; n++)
			w->told[n].asked = 0;
		w->told[2].errors[0] = errors[i];
		KUNIT_EXPECT_EQ(test, kdp_ns_revalidate(&w->ctrl), want);
		for (unsigned int n = 0; n < TEST_NAMESPACES; n++)
			KUNIT_EXPECT_FALSE(test, w->ns[n].dead);
		expect_asked(w, 1, 1, 0);
	}
	w->told[2].errors[0] = 0;
	w->told[2].asked = 0;
	expect_dead(w, false);
}

static struct kunit_case identity_cases[] = {
	KUNIT_CASE(the_same_live_on),
	KUNIT_CASE_PARAM(a_change_is_judged, changes_gen_params),
	KUNIT_CASE(without_identifiers_the_size_tells),
	KUNIT_CASE(the_dead_are_not_asked),
	KUNIT_CASE(a_broken_connection_kills_nobody),
	{}
};

static struct kunit_suite identity_suite = {
	.name		= "kdp_ns_identity",
	.init		= ns_world_init,
	.exit		= ns_world_exit,
	.test_cases	= identity_cases,
};

kunit_test_suite(identity_suite);
