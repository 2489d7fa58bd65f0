/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DMA mappings, accounted for on a checking kernel (CONFIG_DMA_API_DEBUG).
 *
 * A provider in software maps nothing, so that the kernel's own DMA debugging has
 * nothing to see there: a forgotten unmap would show on hardware only. Here each
 * mapping counts, and the device's last put complains of those that are left.
 *
 * Context as of ib_dma_*: any.
 */
#ifndef KDP_DMA_H
#define KDP_DMA_H

#include <linux/atomic.h>
#include <rdma/ib_verbs.h>

#include "fault.h"
#include "kdp_core.h"

static inline void kdp_dma_account(struct kdp_device *dev, int n)
{
	if (IS_ENABLED(CONFIG_DMA_API_DEBUG))
		atomic_add(n, &dev->dma_mappings);
}

/* Returns the number of DMA segments, 0 on failure. */
static inline int kdp_dma_map_sg(struct kdp_device *dev, struct scatterlist *sgl, int nents,
				 enum dma_data_direction dir)
{
	int nr;

	if (kdp_fault(KDP_FAULT_DMA_MAP))
		return 0;
	nr = ib_dma_map_sg(dev->ib, sgl, nents, dir);
	if (nr)
		kdp_dma_account(dev, 1);
	return nr;
}

/* @nents as given to kdp_dma_map_sg(). */
static inline void kdp_dma_unmap_sg(struct kdp_device *dev, struct scatterlist *sgl, int nents,
				    enum dma_data_direction dir)
{
	ib_dma_unmap_sg(dev->ib, sgl, nents, dir);
	kdp_dma_account(dev, -1);
}

/* Returns 0 or a negative errno. */
static inline int kdp_dma_map_sgtable(struct kdp_device *dev, struct sg_table *sgt,
				      enum dma_data_direction dir)
{
	int err;

	if (kdp_fault(KDP_FAULT_DMA_MAP))
		return -ENOMEM;
	err = ib_dma_map_sgtable_attrs(dev->ib, sgt, dir, 0);
	if (!err)
		kdp_dma_account(dev, 1);
	return err;
}

static inline void kdp_dma_unmap_sgtable(struct kdp_device *dev, struct sg_table *sgt,
					 enum dma_data_direction dir)
{
	ib_dma_unmap_sgtable_attrs(dev->ib, sgt, dir, 0);
	kdp_dma_account(dev, -1);
}

/* Returns 0 or -ENOMEM. */
static inline int kdp_dma_map(struct kdp_device *dev, void *buffer, size_t size,
			      enum dma_data_direction dir, dma_addr_t *dma)
{
	if (kdp_fault(KDP_FAULT_DMA_MAP))
		return -ENOMEM;
	*dma = ib_dma_map_single(dev->ib, buffer, size, dir);
	if (ib_dma_mapping_error(dev->ib, *dma))
		return -ENOMEM;
	kdp_dma_account(dev, 1);
	return 0;
}

static inline void kdp_dma_unmap(struct kdp_device *dev, dma_addr_t dma, size_t size,
				 enum dma_data_direction dir)
{
	ib_dma_unmap_single(dev->ib, dma, size, dir);
	kdp_dma_account(dev, -1);
}

#endif /* KDP_DMA_H */
