/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of kdp_host.
 *
 * kdp_map_page: one event a segment of each request whose data were mapped for the
 * wire: the page that the caller gave (pfn), and the DMA address that the MR or the
 * send descriptor was given for it. No event, no data on the wire.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kdp_host

#if !defined(KDP_HOST_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KDP_HOST_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(kdp_map_page,
	TP_PROTO(int instance, u16 qid, int tag, bool write, bool in_capsule, int seg,
		 unsigned long pfn, unsigned int offset, unsigned int len, u64 dma, u32 rkey),
	TP_ARGS(instance, qid, tag, write, in_capsule, seg, pfn, offset, len, dma, rkey),
	TP_STRUCT__entry(
		__field(u64, dma)
		__field(unsigned long, pfn)
		__field(int, instance)
		__field(int, tag)
		__field(int, seg)
		__field(unsigned int, offset)
		__field(unsigned int, len)
		__field(u32, rkey)
		__field(u16, qid)
		__field(bool, write)
		__field(bool, in_capsule)
	),
	TP_fast_assign(
		__entry->dma = dma;
		__entry->pfn = pfn;
		__entry->instance = instance;
		__entry->tag = tag;
		__entry->seg = seg;
		__entry->offset = offset;
		__entry->len = len;
		__entry->rkey = rkey;
		__entry->qid = qid;
		__entry->write = write;
		__entry->in_capsule = in_capsule;
	),
	TP_printk("kdp%d qid=%u tag=%u op=%s how=%s seg=%u pfn=0x%lx off=%u len=%u dma=0x%llx rkey=0x%x",
		  __entry->instance, __entry->qid, __entry->tag,
		  __entry->write ? "write" : "read",
		  __entry->in_capsule ? "inline" : "mr",
		  __entry->seg, __entry->pfn, __entry->offset, __entry->len,
		  __entry->dma, __entry->rkey)
);

#endif /* KDP_HOST_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
