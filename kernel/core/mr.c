// SPDX-License-Identifier: GPL-2.0-only
/* Fast-registration memory regions, one a command slot. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sizes.h>

#include "fault.h"
#include "internal.h"

u32 kdp_mr_pages(const struct kdp_device *dev, u32 wanted)
{
	return min(dev->ib->attrs.max_fast_reg_page_list_len, wanted);
}
EXPORT_SYMBOL_GPL(kdp_mr_pages);

struct ib_mr *kdp_mr_alloc(struct kdp_device *dev, u32 pages)
{
	if (kdp_fault(KDP_FAULT_MR_ALLOC))
		return ERR_PTR(-ENOMEM);
	return ib_alloc_mr(dev->pd, IB_MR_TYPE_MEM_REG, pages);
}
EXPORT_SYMBOL_GPL(kdp_mr_alloc);

struct kdp_mr_pool *kdp_mr_pool_create(struct kdp_device *dev, unsigned int nr, u32 pages)
{
	struct kdp_mr_pool *pool;
	struct ib_mr *mr;

	pool = kzalloc(struct_size(pool, mr, nr), GFP_KERNEL);
	if (!pool)
		return ERR_PTR(-ENOMEM);
	pool->nr = nr;
	for (unsigned int i = 0; i < nr; i++) {
		mr = kdp_mr_alloc(dev, pages);
		if (IS_ERR(mr)) {
			kdp_mr_pool_destroy(pool);
			return ERR_CAST(mr);
		}
		pool->mr[i] = mr;
	}
	return pool;
}
EXPORT_SYMBOL_GPL(kdp_mr_pool_create);

void kdp_mr_pool_destroy(struct kdp_mr_pool *pool)
{
	for (unsigned int i = 0; i < pool->nr && pool->mr[i]; i++)
		ib_dereg_mr(pool->mr[i]);
	kfree(pool);
}
EXPORT_SYMBOL_GPL(kdp_mr_pool_destroy);

int kdp_mr_map(struct ib_mr *mr, struct scatterlist *sgl, int nents, u32 page_size, int access,
	       struct ib_cqe *cqe, struct ib_reg_wr *wr)
{
	int n;

	/* a new key each time: a peer that kept the old one reaches nothing */
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	n = kdp_fault(KDP_FAULT_MR_MAP) ? 0 : ib_map_mr_sg(mr, sgl, nents, NULL, page_size);
	if (n != nents)
		return n < 0 ? n : -EINVAL;

	memset(wr, 0, sizeof(*wr));
	wr->wr.opcode = IB_WR_REG_MR;
	wr->wr.wr_cqe = cqe;
	wr->mr = mr;
	wr->key = mr->rkey;
	wr->access = access;
	return 0;
}
EXPORT_SYMBOL_GPL(kdp_mr_map);
