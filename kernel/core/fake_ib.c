// SPDX-License-Identifier: GPL-2.0-only
/* The RDMA device of the tests (fake_ib.h). */
#include <linux/module.h>
#include <linux/slab.h>

#include "fake_ib.h"

static struct kdp_fake_ib *to_fake(struct ib_device *ib)
{
	return container_of(ib, struct kdp_fake_ib, ib);
}

static int fake_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int fake_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static struct ib_mr *fake_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg)
{
	struct kdp_fake_ib *fake = to_fake(pd->device);
	struct kdp_fake_mr *mr;

	if (++fake->mr_allocs == fake->mr_fails_at)
		return ERR_PTR(fake->mr_error);
	mr = kzalloc(struct_size(mr, pages, max_num_sg), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->max_pages = max_num_sg;
	mr->ib.rkey = fake->mr_allocs << 8;
	mr->ib.lkey = mr->ib.rkey;
	fake->mrs++;
	return &mr->ib;
}

static int fake_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	to_fake(ib->device)->mrs--;
	kfree(to_kdp_fake_mr(ib));
	return 0;
}

static int fake_set_page(struct ib_mr *ib, u64 addr)
{
	struct kdp_fake_mr *mr = to_kdp_fake_mr(ib);

	if (mr->nr_pages == mr->max_pages)
		return -ENOMEM;
	mr->pages[mr->nr_pages++] = addr;
	return 0;
}

static int fake_map_mr_sg(struct ib_mr *ib, struct scatterlist *sgl, int nents,
			  unsigned int *offset)
{
	struct kdp_fake_ib *fake = to_fake(ib->device);

	if (fake->map_error)
		return fake->map_error;
	to_kdp_fake_mr(ib)->nr_pages = 0;
	return ib_sg_to_pages(ib, sgl, nents, offset, fake_set_page);
}

static int fake_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	spin_lock_init(&to_kdp_fake_cq(ib)->lock);
	return 0;
}

static int fake_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	return 0;
}

static void fake_at(struct kdp_fake_cq *cq, enum kdp_fake_at at)
{
	if (cq->at)
		cq->at(cq, at);
}

static int fake_poll_cq(struct ib_cq *ib, int max, struct ib_wc *wc)
{
	struct kdp_fake_cq *cq = to_kdp_fake_cq(ib);
	unsigned long flags;
	int n;

	fake_at(cq, KDP_FAKE_POLL_BEGIN);
	spin_lock_irqsave(&cq->lock, flags);
	cq->polls++;
	for (n = 0; n < max && cq->tail != cq->head; n++)
		wc[n] = cq->wc[cq->tail++ % KDP_FAKE_CQES];
	spin_unlock_irqrestore(&cq->lock, flags);
	fake_at(cq, KDP_FAKE_POLL_END);
	return cq->poll_error ?: n;
}

static int fake_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags what)
{
	struct kdp_fake_cq *cq = to_kdp_fake_cq(ib);
	unsigned long flags;
	bool missed;

	fake_at(cq, KDP_FAKE_ARM_BEGIN);
	spin_lock_irqsave(&cq->lock, flags);
	cq->arms++;
	cq->armed = true;
	missed = cq->tail != cq->head;
	spin_unlock_irqrestore(&cq->lock, flags);
	fake_at(cq, KDP_FAKE_ARM_END);
	return cq->arm_result ?: (what & IB_CQ_REPORT_MISSED_EVENTS) && missed;
}

static int fake_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad)
{
	struct kdp_fake_ib *fake = to_fake(qp->device);

	fake->doorbells++;
	if (fake->send_error) {
		*bad = wr;
		return fake->send_error;
	}
	for (; wr; wr = wr->next) {
		struct kdp_fake_post *post = &fake->posts[fake->nr_posts++ % KDP_FAKE_POSTS];

		*post = (struct kdp_fake_post) {
			.opcode		= wr->opcode,
			.send_flags	= wr->send_flags,
			.cqe		= wr->wr_cqe,
			.num_sge	= wr->num_sge,
			.addr		= wr->num_sge ? wr->sg_list[0].addr : 0,
		};
		if (wr->opcode == IB_WR_LOCAL_INV) {
			post->key = wr->ex.invalidate_rkey;
		} else if (wr->opcode == IB_WR_REG_MR) {
			post->key = reg_wr(wr)->key;
			post->access = reg_wr(wr)->access;
		}
	}
	return 0;
}

static int fake_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad)
{
	struct kdp_fake_ib *fake = to_fake(qp->device);

	fake->doorbells++;
	if (fake->recv_error) {
		*bad = wr;
		return fake->recv_error;
	}
	for (; wr; wr = wr->next)
		fake->recvs++;
	return 0;
}

static const struct ib_device_ops fake_ops = {
	.owner		= THIS_MODULE,
	.alloc_pd	= fake_alloc_pd,
	.dealloc_pd	= fake_dealloc_pd,
	.alloc_mr	= fake_alloc_mr,
	.dereg_mr	= fake_dereg_mr,
	.map_mr_sg	= fake_map_mr_sg,
	.create_cq	= fake_create_cq,
	.destroy_cq	= fake_destroy_cq,
	.poll_cq	= fake_poll_cq,
	.req_notify_cq	= fake_req_notify_cq,
	.post_send	= fake_post_send,
	.post_recv	= fake_post_recv,
	.size_ib_pd	= sizeof(struct ib_pd),
	INIT_RDMA_OBJ_SIZE(ib_cq, kdp_fake_cq, ib),
};

struct kdp_fake_ib *kdp_fake_create(struct kdp_device *dev)
{
	struct kdp_fake_ib *fake;

	fake = ib_alloc_device(kdp_fake_ib, ib);
	if (!fake)
		return NULL;
	ib_set_device_ops(&fake->ib, &fake_ops);
	fake->ib.num_comp_vectors = 1;
	fake->ib.attrs.kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	fake->ib.attrs.max_fast_reg_page_list_len = 512;
	fake->ib.local_dma_lkey = 0x10ca1;
	dev->ib = &fake->ib;
	dev->pd = ib_alloc_pd(&fake->ib, 0);
	if (IS_ERR(dev->pd)) {
		ib_dealloc_device(&fake->ib);
		return NULL;
	}
	return fake;
}
EXPORT_SYMBOL_GPL(kdp_fake_create);

void kdp_fake_destroy(struct kdp_device *dev)
{
	ib_dealloc_pd(dev->pd);
	ib_dealloc_device(dev->ib);
}
EXPORT_SYMBOL_GPL(kdp_fake_destroy);

void kdp_fake_complete(struct kdp_fake_cq *cq, struct ib_cqe *cqe, bool late)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->wc[cq->head++ % KDP_FAKE_CQES] = (struct ib_wc) { .wr_cqe = cqe };
	if (cq->armed) {
		cq->armed = false;
		cq->owed++;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (!late)
		kdp_fake_deliver(cq);
}
EXPORT_SYMBOL_GPL(kdp_fake_complete);

void kdp_fake_deliver(struct kdp_fake_cq *cq)
{
	unsigned long flags;
	unsigned int owed;

	spin_lock_irqsave(&cq->lock, flags);
	owed = cq->owed;
	cq->owed = 0;
	spin_unlock_irqrestore(&cq->lock, flags);
	while (owed--)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}
EXPORT_SYMBOL_GPL(kdp_fake_deliver);

unsigned int kdp_fake_backlog(struct kdp_fake_cq *cq)
{
	unsigned long flags;
	unsigned int n;

	spin_lock_irqsave(&cq->lock, flags);
	n = cq->head - cq->tail;
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}
EXPORT_SYMBOL_GPL(kdp_fake_backlog);

MODULE_DESCRIPTION("kdp: unit tests of kdp_core");
MODULE_AUTHOR("The kdp authors");
MODULE_LICENSE("GPL");
