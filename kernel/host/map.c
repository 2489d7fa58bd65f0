// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a request's pages to the command's data pointer: in the capsule, through the slot's
 * MR, or through that of a registered region, whose pages need no mapping. Nothing is
 * copied: the wire is given the caller's own pages.
 */
#include <linux/moduleparam.h>
#include <linux/scatterlist.h>

#include "../core/dma.h"
#include "host.h"
#include "trace.h"

#include "compat_blk.h"

static bool remote_invalidation = true;
module_param(remote_invalidation, bool, 0644);
MODULE_PARM_DESC(remote_invalidation,
		 "Ask targets to invalidate a key along with the response (Y); N: the host does it");

static void kdp_trace_pages(struct kdp_req *req, struct request *rq, u32 rkey)
{
	struct kdp_queue *queue = req->queue;
	struct scatterlist *sg;
	int i;

	for_each_sg(req->sgt.sgl, sg, req->nr_dma, i)
		trace_kdp_map_page(queue->ctrl->instance, queue->qid, rq->tag,
				   rq_data_dir(rq) == WRITE, req->how == KDP_MAP_INLINE, i,
				   page_to_pfn(sg_page(sg)), sg->offset, sg_dma_len(sg),
				   sg_dma_address(sg), rkey);
}

static void kdp_trace_region(struct kdp_req *req, struct request *rq, u32 rkey)
{
	const struct kdp_region *region = req->region.region;
	const struct kdp_pages *pages = &region->pages;
	u64 at = pages->offset + req->region.offset, end = at + req->region.length, len;
	struct kdp_queue *queue = req->queue;
	unsigned int i;

	for (i = 0; at < end; i++, at += len) {
		len = min(end - at, PAGE_SIZE - offset_in_page(at));
		trace_kdp_map_page(queue->ctrl->instance, queue->qid, rq->tag,
				   rq_data_dir(rq) == WRITE, req->how == KDP_MAP_INLINE, i,
				   page_to_pfn(pages->page[at >> PAGE_SHIFT]), offset_in_page(at),
				   len, kdp_region_dma(&region->mrs, at - pages->offset), rkey);
	}
}

static bool kdp_fits_capsule(const struct kdp_req *req, struct request *rq, u32 bytes,
			     unsigned int segments)
{
	const struct kdp_queue *queue = req->queue;

	return rq_data_dir(rq) == WRITE && queue->qid && bytes <= queue->ctrl->inline_size &&
	       segments <= queue->inline_segments;
}

/* The data travel in the capsule, as @segments pieces behind the command. */
static void kdp_set_inline(struct kdp_req *req, struct nvmf_sqe *sqe, unsigned int segments,
			   u32 bytes)
{
	req->send_wr.num_sge += segments;
	req->how = KDP_MAP_INLINE;
	nvmf_sgl_set_inline(&sqe->dptr, 0, bytes);
}

static void kdp_map_inline(struct kdp_req *req, struct request *rq, struct nvmf_sqe *sqe)
{
	struct ib_sge *sge = &req->sge[1];
	struct scatterlist *sg;
	int i;

	for_each_sg(req->sgt.sgl, sg, req->nr_dma, i) {
		sge->addr = sg_dma_address(sg);
		sge->length = sg_dma_len(sg);
		sge->lkey = req->queue->conn.dev->pd->local_dma_lkey;
		sge++;
	}
	kdp_set_inline(req, sqe, req->nr_dma, blk_rq_payload_bytes(rq));
}

static int kdp_map_mr(struct kdp_req *req, struct request *rq, struct nvmf_sqe *sqe)
{
	struct ib_mr *mr = req->queue->mrs->mr[rq->tag];
	/* the least that the peer needs: it reads what we write, and the reverse */
	int access = rq_data_dir(rq) == WRITE ? IB_ACCESS_REMOTE_READ :
					       IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	int err;

	err = kdp_mr_map(mr, req->sgt.sgl, req->nr_dma, SZ_4K, access, &req->reg_cqe, &req->reg_wr);
	if (err)
		return err;
	req->how = KDP_MAP_MR;
	nvmf_sgl_set_keyed(&sqe->dptr, mr->iova, mr->length, mr->rkey,
			    READ_ONCE(remote_invalidation));
	return 0;
}

/*
 * Into the capsule, piece by piece in device addresses, as other data: a provider in software takes
 * longer to find them by the MR's local key. Returns false if they do not fit.
 */
static bool kdp_map_region_inline(struct kdp_req *req, struct request *rq, struct nvmf_sqe *sqe)
{
	const struct kdp_region_use *use = &req->region;
	struct ib_sge *sge = &req->sge[1];
	unsigned int n, i;

	if (!kdp_fits_capsule(req, rq, use->length, 1))
		return false;
	n = kdp_region_pieces(&use->region->mrs, use->offset, use->length, sge,
			      req->queue->inline_segments);
	for (i = 0; i < n; i++)
		sge[i].lkey = req->queue->conn.dev->pd->local_dma_lkey;
	if (n)
		kdp_set_inline(req, sqe, n, use->length);
	return n;
}

/* The data lie where an MR stands already: it gives them an address for the peer. */
static int kdp_map_region(struct kdp_req *req, struct request *rq, struct nvmf_sqe *sqe)
{
	const struct kdp_region_use *use = &req->region;
	const struct ib_mr *mr;
	u64 iova;

	mr = kdp_region_mr(&use->region->mrs, use->offset, use->length, &iova);
	if (unlikely(!mr))
		return -EIO;
	if (!kdp_map_region_inline(req, rq, sqe)) {
		req->how = KDP_MAP_REGION;
		nvmf_sgl_set_keyed(&sqe->dptr, iova, use->length, mr->rkey, false);
	}
	if (trace_kdp_map_page_enabled())
		kdp_trace_region(req, rq, req->how == KDP_MAP_INLINE ? 0 : mr->rkey);
	return 0;
}

/*
 * Map the data of @rq, complete @sqe's data pointer and @req's work requests.
 * Context: ->queue_rq, may not sleep. Returns 0, or with nothing mapped
 *   -ENOMEM  no memory now, try again
 *   -EIO     the segments do not fit what the limits promised
 */
int kdp_map_data(struct kdp_req *req, struct request *rq, struct nvmf_sqe *sqe)
{
	struct kdp_device *dev = req->queue->conn.dev;
	int err;

	req->how = KDP_MAP_NONE;
	if (req->region.region)
		return kdp_map_region(req, rq, sqe);
	if (!blk_rq_nr_phys_segments(rq)) {
		nvmf_sgl_set_none(&sqe->dptr);
		return 0;
	}

	req->sgt.sgl = req->inline_sg;
	err = sg_alloc_table_chained(&req->sgt, blk_rq_nr_phys_segments(rq), req->inline_sg,
				     KDP_INLINE_SEGMENTS);
	if (err)
		return -ENOMEM;
	req->sgt.nents = kdp_rq_map_sg(rq, req->sgt.sgl);
	req->nr_dma = kdp_dma_map_sg(dev, req->sgt.sgl, req->sgt.nents, rq_dma_dir(rq));
	if (!req->nr_dma) {
		err = -ENOMEM;
		goto free_table;
	}

	if (kdp_fits_capsule(req, rq, blk_rq_payload_bytes(rq), req->nr_dma)) {
		kdp_map_inline(req, rq, sqe);
	} else {
		err = kdp_map_mr(req, rq, sqe);
		if (err) {
			err = -EIO;
			goto unmap;
		}
	}
	if (trace_kdp_map_page_enabled())
		kdp_trace_pages(req, rq, req->how == KDP_MAP_MR ? req->reg_wr.key : 0);
	return 0;

unmap:
	kdp_dma_unmap_sg(dev, req->sgt.sgl, req->sgt.nents, rq_dma_dir(rq));
free_table:
	sg_free_table_chained(&req->sgt, KDP_INLINE_SEGMENTS);
	return err;
}

void kdp_unmap_data(struct kdp_req *req, struct request *rq)
{
	if (req->how == KDP_MAP_NONE)
		return;
	if (req->region.region) {
		req->how = KDP_MAP_NONE;
		return;
	}
	kdp_dma_unmap_sg(req->queue->conn.dev, req->sgt.sgl, req->sgt.nents, rq_dma_dir(rq));
	sg_free_table_chained(&req->sgt, KDP_INLINE_SEGMENTS);
	req->how = KDP_MAP_NONE;
}
