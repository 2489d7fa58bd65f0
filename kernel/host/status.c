// SPDX-License-Identifier: GPL-2.0-only
/* What an NVMe status means to the block layer and as an errno. */
#include "host.h"

#include "compat_blk.h"

blk_status_t kdp_status_to_blk(u16 status)
{
	switch (status & NVMF_SC_MASK) {
	case NVMF_SC_SUCCESS:
		return BLK_STS_OK;
	case NVMF_SC_CAP_EXCEEDED:
		return BLK_STS_NOSPC;
	case NVMF_SC_LBA_RANGE:
	case NVMF_SC_ACCESS_DENIED:
		return BLK_STS_TARGET;
	case NVMF_SC_INVALID_OPCODE:
	case NVMF_SC_INVALID_FIELD:
	case NVMF_SC_INVALID_NS:
		return BLK_STS_NOTSUPP;
	case NVMF_SC_WRITE_FAULT:
	case NVMF_SC_READ_ERROR:
		return BLK_STS_MEDIUM;
	case NVMF_SC_GUARD_CHECK:
		return BLK_STS_PROTECTION;
	case NVMF_SC_RESERVATION_CONFLICT:
		return KDP_BLK_STS_RESV_CONFLICT;
	case NVMF_SC_HOST_PATH_ERROR:
	case NVMF_SC_HOST_ABORTED_CMD:
		return BLK_STS_TRANSPORT;
	default:
		return BLK_STS_IOERR;
	}
}

/* For commands of our own while connecting. */
int kdp_status_to_errno(u16 status)
{
	switch (status & NVMF_SC_MASK) {
	case NVMF_SC_SUCCESS:
		return 0;
	case NVMF_SC_HOST_PATH_ERROR:
	case NVMF_SC_HOST_ABORTED_CMD:
		return -ECONNRESET;
	case NVMF_SC_CONNECT_CTRL_BUSY:
		return -EBUSY;
	case NVMF_SC_CONNECT_INVALID_HOST:
	case NVMF_SC_ACCESS_DENIED:
		return -EACCES;
	case NVMF_SC_CONNECT_FORMAT:
		return -EPROTO;
	default:
		return -EIO;
	}
}
