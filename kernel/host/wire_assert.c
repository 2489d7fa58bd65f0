// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wire format of include/nvmf held against the kernel's own headers, at
 * compile time. Nothing here runs and nothing here is called.
 *
 * Compared is only what every supported kernel has: the controller ID in the
 * CM request (RDMA Transport 1.0, 3.2) came later than 6.1.
 */
#include <linux/build_bug.h>
#include <linux/sizes.h>
#include <linux/stddef.h>
#include <linux/types.h>

/* The one name that both use; include/nvmf gets it here. */
#define nvmf_connect_data linux_nvmf_connect_data
#include <linux/nvme.h>
#include <linux/nvme-rdma.h>
#include <linux/nvme-tcp.h>
#undef nvmf_connect_data

#include <nvmf/capsule.h>
#include <nvmf/command.h>
#include <nvmf/fabrics.h>
#include <nvmf/identify.h>
#include <nvmf/rdma.h>
#include <nvmf/tcp.h>

#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs))

/* The same place and the same width. */
#define SAME_FIELD(ours, f, theirs, g)						\
	static_assert(offsetof(ours, f) == offsetof(theirs, g) &&		\
		      sizeof_field(ours, f) == sizeof_field(theirs, g))

#define SAME_VALUE(ours, theirs) static_assert((u64)(ours) == (u64)(theirs))

#define FIELD_AT(theirs, g, offset, width)					\
	static_assert(offsetof(theirs, g) == (offset) &&			\
		      sizeof_field(theirs, g) == (width))

/* Queue entries */
SAME_SIZE(struct nvmf_sqe, struct nvme_command);
SAME_FIELD(struct nvmf_sqe, opcode, struct nvme_command, common.opcode);
SAME_FIELD(struct nvmf_sqe, flags, struct nvme_command, common.flags);
SAME_FIELD(struct nvmf_sqe, cid, struct nvme_command, common.command_id);
SAME_FIELD(struct nvmf_sqe, nsid, struct nvme_command, common.nsid);
SAME_FIELD(struct nvmf_sqe, cdw2, struct nvme_command, common.cdw2[0]);
SAME_FIELD(struct nvmf_sqe, cdw3, struct nvme_command, common.cdw2[1]);
SAME_FIELD(struct nvmf_sqe, mptr, struct nvme_command, common.metadata);
SAME_FIELD(struct nvmf_sqe, dptr, struct nvme_command, common.dptr);
SAME_FIELD(struct nvmf_sqe, cdw10, struct nvme_command, common.cdw10);
SAME_FIELD(struct nvmf_sqe, cdw11, struct nvme_command, common.cdw11);
SAME_FIELD(struct nvmf_sqe, cdw12, struct nvme_command, common.cdw12);
SAME_FIELD(struct nvmf_sqe, cdw13, struct nvme_command, common.cdw13);
SAME_FIELD(struct nvmf_sqe, cdw14, struct nvme_command, common.cdw14);
SAME_FIELD(struct nvmf_sqe, cdw15, struct nvme_command, common.cdw15);

SAME_SIZE(struct nvmf_cqe, struct nvme_completion);
SAME_FIELD(struct nvmf_cqe, result, struct nvme_completion, result);
SAME_FIELD(struct nvmf_cqe, sqhd, struct nvme_completion, sq_head);
SAME_FIELD(struct nvmf_cqe, sqid, struct nvme_completion, sq_id);
SAME_FIELD(struct nvmf_cqe, cid, struct nvme_completion, command_id);
SAME_FIELD(struct nvmf_cqe, status, struct nvme_completion, status);

/* SGL descriptors */
SAME_SIZE(union nvmf_sgl, union nvme_data_ptr);
SAME_SIZE(struct nvmf_data_sgl, struct nvme_sgl_desc);
SAME_FIELD(struct nvmf_data_sgl, offset, struct nvme_sgl_desc, addr);
SAME_FIELD(struct nvmf_data_sgl, length, struct nvme_sgl_desc, length);
SAME_FIELD(struct nvmf_data_sgl, type, struct nvme_sgl_desc, type);
SAME_SIZE(struct nvmf_keyed_sgl, struct nvme_keyed_sgl_desc);
SAME_FIELD(struct nvmf_keyed_sgl, addr, struct nvme_keyed_sgl_desc, addr);
SAME_FIELD(struct nvmf_keyed_sgl, length, struct nvme_keyed_sgl_desc, length);
SAME_FIELD(struct nvmf_keyed_sgl, key, struct nvme_keyed_sgl_desc, key);
SAME_FIELD(struct nvmf_keyed_sgl, type, struct nvme_keyed_sgl_desc, type);
SAME_VALUE(NVMF_FLAGS_SGL, NVME_CMD_SGL_METABUF);
SAME_VALUE(NVMF_SGL_DATA_OFFSET, NVME_SGL_FMT_DATA_DESC << 4 | NVME_SGL_FMT_OFFSET);
SAME_VALUE(NVMF_SGL_KEYED, NVME_KEY_SGL_FMT_DATA_DESC << 4 | NVME_SGL_FMT_ADDRESS);
SAME_VALUE(NVMF_SGL_KEYED_INV, NVME_KEY_SGL_FMT_DATA_DESC << 4 | NVME_SGL_FMT_INVALIDATE);

/* Opcodes */
SAME_VALUE(NVMF_ADM_GET_LOG_PAGE, nvme_admin_get_log_page);
SAME_VALUE(NVMF_ADM_IDENTIFY, nvme_admin_identify);
SAME_VALUE(NVMF_ADM_SET_FEATURES, nvme_admin_set_features);
SAME_VALUE(NVMF_ADM_GET_FEATURES, nvme_admin_get_features);
SAME_VALUE(NVMF_ADM_ASYNC_EVENT, nvme_admin_async_event);
SAME_VALUE(NVMF_ADM_KEEP_ALIVE, nvme_admin_keep_alive);
SAME_VALUE(NVMF_IO_FLUSH, nvme_cmd_flush);
SAME_VALUE(NVMF_IO_WRITE, nvme_cmd_write);
SAME_VALUE(NVMF_IO_READ, nvme_cmd_read);
SAME_VALUE(NVMF_IO_WRITE_ZEROES, nvme_cmd_write_zeroes);
SAME_VALUE(NVMF_IO_DSM, nvme_cmd_dsm);
SAME_VALUE(NVMF_DSM_DEALLOCATE, NVME_DSMGMT_AD);
SAME_SIZE(struct nvmf_dsm_range, struct nvme_dsm_range);
SAME_FIELD(struct nvmf_dsm_range, attributes, struct nvme_dsm_range, cattr);
SAME_FIELD(struct nvmf_dsm_range, nlb, struct nvme_dsm_range, nlb);
SAME_FIELD(struct nvmf_dsm_range, slba, struct nvme_dsm_range, slba);
SAME_VALUE(NVMF_OPC_FABRICS, nvme_fabrics_command);
SAME_VALUE(NVMF_FCTYPE_PROPERTY_SET, nvme_fabrics_type_property_set);
SAME_VALUE(NVMF_FCTYPE_CONNECT, nvme_fabrics_type_connect);
SAME_VALUE(NVMF_FCTYPE_PROPERTY_GET, nvme_fabrics_type_property_get);

/* Arguments of commands: where each lies, by the dword or byte that the builders write */
FIELD_AT(struct nvme_rw_command, slba, 40, 8);
FIELD_AT(struct nvme_rw_command, length, 48, 2);
FIELD_AT(struct nvme_rw_command, control, 50, 2);
FIELD_AT(struct nvme_identify, cns, 40, 1);
FIELD_AT(struct nvme_features, fid, 40, 4);
FIELD_AT(struct nvme_features, dword11, 44, 4);
FIELD_AT(struct nvme_get_log_page_command, lid, 40, 1);
FIELD_AT(struct nvme_get_log_page_command, lsp, 41, 1);
FIELD_AT(struct nvme_get_log_page_command, numdl, 42, 2);
FIELD_AT(struct nvme_get_log_page_command, numdu, 44, 2);
FIELD_AT(struct nvmf_connect_command, fctype, 4, 1);
FIELD_AT(struct nvmf_connect_command, recfmt, 40, 2);
FIELD_AT(struct nvmf_connect_command, qid, 42, 2);
FIELD_AT(struct nvmf_connect_command, sqsize, 44, 2);
FIELD_AT(struct nvmf_connect_command, kato, 48, 4);
FIELD_AT(struct nvmf_property_get_command, attrib, 40, 1);
FIELD_AT(struct nvmf_property_get_command, offset, 44, 4);
FIELD_AT(struct nvmf_property_set_command, attrib, 40, 1);
FIELD_AT(struct nvmf_property_set_command, offset, 44, 4);
FIELD_AT(struct nvmf_property_set_command, value, 48, 8);
SAME_VALUE(NVMF_RW_FUA, (u32)NVME_RW_FUA << 16);
SAME_VALUE(NVMF_RW_LIMITED_RETRY, (u32)NVME_RW_LR << 16);
SAME_VALUE(NVMF_CNS_NS, NVME_ID_CNS_NS);
SAME_VALUE(NVMF_CNS_CTRL, NVME_ID_CNS_CTRL);
SAME_VALUE(NVMF_CNS_ACTIVE_NS, NVME_ID_CNS_NS_ACTIVE_LIST);
SAME_VALUE(NVMF_IDENTIFY_SIZE, NVME_IDENTIFY_DATA_SIZE);
SAME_VALUE(NVMF_CNS_NS_DESCRIPTORS, NVME_ID_CNS_NS_DESC_LIST);
SAME_VALUE(NVMF_FEAT_NUM_QUEUES, NVME_FEAT_NUM_QUEUES);

/* Events and log pages */
SAME_VALUE(NVMF_FEAT_ASYNC_EVENT, NVME_FEAT_ASYNC_EVENT);
SAME_VALUE(NVMF_LOG_ERROR, NVME_LOG_ERROR);
SAME_VALUE(NVMF_LOG_SMART, NVME_LOG_SMART);
SAME_VALUE(NVMF_LOG_CHANGED_NS, NVME_LOG_CHANGED_NS);
SAME_VALUE(NVMF_LOG_CHANGED_NS_SIZE, NVME_MAX_CHANGED_NAMESPACES * sizeof(__le32));
SAME_VALUE(NVMF_NSID_ALL, NVME_NSID_ALL);
SAME_VALUE(NVMF_EVENT_NOTICE, NVME_AER_NOTICE);
SAME_VALUE(NVMF_NOTICE_NS_CHANGED, NVME_AER_NOTICE_NS_CHANGED);
SAME_VALUE(NVMF_EVENT_NS_ATTR, NVME_AEN_CFG_NS_ATTR);

/* Connect data */
SAME_SIZE(struct nvmf_connect_data, struct linux_nvmf_connect_data);
SAME_FIELD(struct nvmf_connect_data, hostid, struct linux_nvmf_connect_data, hostid);
SAME_FIELD(struct nvmf_connect_data, cntlid, struct linux_nvmf_connect_data, cntlid);
SAME_FIELD(struct nvmf_connect_data, subsysnqn, struct linux_nvmf_connect_data, subsysnqn);
SAME_FIELD(struct nvmf_connect_data, hostnqn, struct linux_nvmf_connect_data, hostnqn);
SAME_VALUE(NVMF_CNTLID_DYNAMIC, NVME_CNTLID_DYNAMIC);
SAME_VALUE(NVMF_NQN_FIELD, NVMF_NQN_FIELD_LEN);
SAME_VALUE(sizeof(NVMF_DISCOVERY_NQN), sizeof(NVME_DISC_SUBSYS_NAME));

/* Properties */
SAME_VALUE(NVMF_PROP_CAP, NVME_REG_CAP);
SAME_VALUE(NVMF_PROP_VS, NVME_REG_VS);
SAME_VALUE(NVMF_PROP_CC, NVME_REG_CC);
SAME_VALUE(NVMF_PROP_CSTS, NVME_REG_CSTS);
SAME_VALUE(NVMF_CC_ENABLE, NVME_CC_ENABLE);
SAME_VALUE(NVMF_CC_SHN_NORMAL, NVME_CC_SHN_NORMAL);
SAME_VALUE(NVMF_CC_SHN_MASK, NVME_CC_SHN_MASK);
SAME_VALUE(NVMF_CC_IOSQES, NVME_CC_IOSQES);
SAME_VALUE(NVMF_CC_IOCQES, NVME_CC_IOCQES);
SAME_VALUE(NVMF_CC_NVM, NVME_CC_CSS_NVM | NVME_CC_IOSQES | NVME_CC_IOCQES);
SAME_VALUE(NVMF_CSTS_RDY, NVME_CSTS_RDY);
SAME_VALUE(NVMF_CSTS_CFS, NVME_CSTS_CFS);
SAME_VALUE(NVMF_CSTS_SHST_MASK, NVME_CSTS_SHST_MASK);
SAME_VALUE(NVMF_CSTS_SHST_DONE, NVME_CSTS_SHST_CMPLT);

/* Identify: the bytes that nvmf_ctrl_info_parse() and nvmf_ns_info_parse() read */
FIELD_AT(struct nvme_id_ctrl, sn, 4, NVMF_SERIAL_SIZE);
FIELD_AT(struct nvme_id_ctrl, mn, 24, NVMF_MODEL_SIZE);
FIELD_AT(struct nvme_id_ctrl, fr, 64, NVMF_FIRMWARE_SIZE);
FIELD_AT(struct nvme_id_ctrl, mdts, 77, 1);
FIELD_AT(struct nvme_id_ctrl, cntlid, 78, 2);
FIELD_AT(struct nvme_id_ctrl, oaes, 92, 4);
SAME_VALUE(NVMF_OAES_NS_ATTR, NVME_AEN_CFG_NS_ATTR);
FIELD_AT(struct nvme_id_ctrl, kas, 320, 2);
FIELD_AT(struct nvme_id_ctrl, sqes, 512, 1);
FIELD_AT(struct nvme_id_ctrl, cqes, 513, 1);
FIELD_AT(struct nvme_id_ctrl, maxcmd, 514, 2);
FIELD_AT(struct nvme_id_ctrl, nn, 516, 4);
FIELD_AT(struct nvme_id_ctrl, oncs, 520, 2);
SAME_VALUE(NVMF_ONCS_DSM, NVME_CTRL_ONCS_DSM);
SAME_VALUE(NVMF_ONCS_WRITE_ZEROES, NVME_CTRL_ONCS_WRITE_ZEROES);
FIELD_AT(struct nvme_id_ctrl, vwc, 525, 1);
FIELD_AT(struct nvme_id_ctrl, sgls, 536, 4);
FIELD_AT(struct nvme_id_ctrl, ioccsz, 1792, 4);
FIELD_AT(struct nvme_id_ctrl, icdoff, 1800, 2);
FIELD_AT(struct nvme_id_ctrl, msdbd, 1803, 1);
SAME_VALUE(NVMF_IDENTIFY_SIZE, sizeof(struct nvme_id_ctrl));

FIELD_AT(struct nvme_id_ns, nsze, 0, 8);
FIELD_AT(struct nvme_id_ns, nlbaf, 25, 1);
FIELD_AT(struct nvme_id_ns, flbas, 26, 1);
FIELD_AT(struct nvme_id_ns, dps, 29, 1);
FIELD_AT(struct nvme_id_ns, nsattr, 99, 1);
FIELD_AT(struct nvme_id_ns, nguid, 104, 16);
FIELD_AT(struct nvme_id_ns, eui64, 120, 8);
FIELD_AT(struct nvme_id_ns, lbaf[0], 128, 4);
FIELD_AT(struct nvme_lbaf, ms, 0, 2);
FIELD_AT(struct nvme_lbaf, ds, 2, 1);
SAME_VALUE(NVMF_IDENTIFY_SIZE, sizeof(struct nvme_id_ns));

FIELD_AT(struct nvme_ns_id_desc, nidt, 0, 1);
FIELD_AT(struct nvme_ns_id_desc, nidl, 1, 1);
SAME_VALUE(NVMF_NID_HEADER, sizeof(struct nvme_ns_id_desc));
SAME_VALUE(NVMF_NIDT_EUI64, NVME_NIDT_EUI64);
SAME_VALUE(NVMF_NIDT_NGUID, NVME_NIDT_NGUID);
SAME_VALUE(NVMF_NIDT_UUID, NVME_NIDT_UUID);
SAME_VALUE(NVMF_NIDT_CSI, NVME_NIDT_CSI);
SAME_VALUE(NVMF_CSI_NVM, NVME_CSI_NVM);
SAME_VALUE(sizeof_field(struct nvmf_ns_info, eui64), NVME_NIDT_EUI64_LEN);
SAME_VALUE(sizeof_field(struct nvmf_ns_info, nguid), NVME_NIDT_NGUID_LEN);
SAME_VALUE(sizeof_field(struct nvmf_ns_info, uuid), NVME_NIDT_UUID_LEN);
SAME_VALUE(sizeof_field(struct nvmf_ns_info, csi), NVME_NIDT_CSI_LEN);

/* Status */
SAME_VALUE(NVMF_SC_SUCCESS, NVME_SC_SUCCESS);
SAME_VALUE(NVMF_SC_INVALID_OPCODE, NVME_SC_INVALID_OPCODE);
SAME_VALUE(NVMF_SC_INVALID_FIELD, NVME_SC_INVALID_FIELD);
SAME_VALUE(NVMF_SC_DATA_XFER_ERROR, NVME_SC_DATA_XFER_ERROR);
SAME_VALUE(NVMF_SC_INTERNAL, NVME_SC_INTERNAL);
SAME_VALUE(NVMF_SC_ABORT_REQ, NVME_SC_ABORT_REQ);
SAME_VALUE(NVMF_SC_INVALID_NS, NVME_SC_INVALID_NS);
SAME_VALUE(NVMF_SC_CMD_SEQ_ERROR, NVME_SC_CMD_SEQ_ERROR);
SAME_VALUE(NVMF_SC_TRANSIENT_TRANSPORT, NVME_SC_TRANSIENT_TR_ERR);
SAME_VALUE(NVMF_SC_LBA_RANGE, NVME_SC_LBA_RANGE);
SAME_VALUE(NVMF_SC_CAP_EXCEEDED, NVME_SC_CAP_EXCEEDED);
SAME_VALUE(NVMF_SC_NS_NOT_READY, NVME_SC_NS_NOT_READY);
SAME_VALUE(NVMF_SC_RESERVATION_CONFLICT, NVME_SC_RESERVATION_CONFLICT);
SAME_VALUE(NVMF_SC_CONNECT_FORMAT, NVME_SC_CONNECT_FORMAT);
SAME_VALUE(NVMF_SC_CONNECT_CTRL_BUSY, NVME_SC_CONNECT_CTRL_BUSY);
SAME_VALUE(NVMF_SC_CONNECT_INVALID_PARAM, NVME_SC_CONNECT_INVALID_PARAM);
SAME_VALUE(NVMF_SC_CONNECT_RESTART_DISC, NVME_SC_CONNECT_RESTART_DISC);
SAME_VALUE(NVMF_SC_CONNECT_INVALID_HOST, NVME_SC_CONNECT_INVALID_HOST);
SAME_VALUE(NVMF_SC_WRITE_FAULT, NVME_SC_WRITE_FAULT);
SAME_VALUE(NVMF_SC_READ_ERROR, NVME_SC_READ_ERROR);
SAME_VALUE(NVMF_SC_GUARD_CHECK, NVME_SC_GUARD_CHECK);
SAME_VALUE(NVMF_SC_COMPARE_FAILED, NVME_SC_COMPARE_FAILED);
SAME_VALUE(NVMF_SC_ACCESS_DENIED, NVME_SC_ACCESS_DENIED);
SAME_VALUE(NVMF_SC_HOST_PATH_ERROR, NVME_SC_HOST_PATH_ERROR);
SAME_VALUE(NVMF_SC_HOST_ABORTED_CMD, NVME_SC_HOST_ABORTED_CMD);

/* Connection manager private data */
SAME_SIZE(struct nvmf_rdma_cm_req, struct nvme_rdma_cm_req);
SAME_FIELD(struct nvmf_rdma_cm_req, recfmt, struct nvme_rdma_cm_req, recfmt);
SAME_FIELD(struct nvmf_rdma_cm_req, qid, struct nvme_rdma_cm_req, qid);
SAME_FIELD(struct nvmf_rdma_cm_req, hrqsize, struct nvme_rdma_cm_req, hrqsize);
SAME_FIELD(struct nvmf_rdma_cm_req, hsqsize, struct nvme_rdma_cm_req, hsqsize);
SAME_SIZE(struct nvmf_rdma_cm_rep, struct nvme_rdma_cm_rep);
SAME_FIELD(struct nvmf_rdma_cm_rep, recfmt, struct nvme_rdma_cm_rep, recfmt);
SAME_FIELD(struct nvmf_rdma_cm_rep, crqsize, struct nvme_rdma_cm_rep, crqsize);
SAME_SIZE(struct nvmf_rdma_cm_rej, struct nvme_rdma_cm_rej);
SAME_FIELD(struct nvmf_rdma_cm_rej, recfmt, struct nvme_rdma_cm_rej, recfmt);
SAME_FIELD(struct nvmf_rdma_cm_rej, status, struct nvme_rdma_cm_rej, sts);
SAME_VALUE(NVMF_RDMA_RECFMT, NVME_RDMA_CM_FMT_1_0);
SAME_VALUE(NVMF_RDMA_PORT, NVME_RDMA_IP_PORT);
SAME_VALUE(NVMF_RDMA_REJ_INVALID_LEN, NVME_RDMA_CM_INVALID_LEN);
SAME_VALUE(NVMF_RDMA_REJ_INVALID_RECFMT, NVME_RDMA_CM_INVALID_RECFMT);
SAME_VALUE(NVMF_RDMA_REJ_INVALID_QID, NVME_RDMA_CM_INVALID_QID);
SAME_VALUE(NVMF_RDMA_REJ_INVALID_HSQSIZE, NVME_RDMA_CM_INVALID_HSQSIZE);
SAME_VALUE(NVMF_RDMA_REJ_INVALID_HRQSIZE, NVME_RDMA_CM_INVALID_HRQSIZE);
SAME_VALUE(NVMF_RDMA_REJ_NO_RESOURCES, NVME_RDMA_CM_NO_RSC);
SAME_VALUE(NVMF_RDMA_REJ_INVALID_IRD, NVME_RDMA_CM_INVALID_IRD);
SAME_VALUE(NVMF_RDMA_REJ_INVALID_ORD, NVME_RDMA_CM_INVALID_ORD);

/* PDUs of NVMe over TCP */
SAME_SIZE(struct nvmf_tcp_hdr, struct nvme_tcp_hdr);
SAME_FIELD(struct nvmf_tcp_hdr, type, struct nvme_tcp_hdr, type);
SAME_FIELD(struct nvmf_tcp_hdr, flags, struct nvme_tcp_hdr, flags);
SAME_FIELD(struct nvmf_tcp_hdr, hlen, struct nvme_tcp_hdr, hlen);
SAME_FIELD(struct nvmf_tcp_hdr, pdo, struct nvme_tcp_hdr, pdo);
SAME_FIELD(struct nvmf_tcp_hdr, plen, struct nvme_tcp_hdr, plen);
SAME_SIZE(struct nvmf_tcp_icreq, struct nvme_tcp_icreq_pdu);
SAME_FIELD(struct nvmf_tcp_icreq, pfv, struct nvme_tcp_icreq_pdu, pfv);
SAME_FIELD(struct nvmf_tcp_icreq, hpda, struct nvme_tcp_icreq_pdu, hpda);
SAME_FIELD(struct nvmf_tcp_icreq, dgst, struct nvme_tcp_icreq_pdu, digest);
SAME_FIELD(struct nvmf_tcp_icreq, maxr2t, struct nvme_tcp_icreq_pdu, maxr2t);
SAME_SIZE(struct nvmf_tcp_icresp, struct nvme_tcp_icresp_pdu);
SAME_FIELD(struct nvmf_tcp_icresp, pfv, struct nvme_tcp_icresp_pdu, pfv);
SAME_FIELD(struct nvmf_tcp_icresp, cpda, struct nvme_tcp_icresp_pdu, cpda);
SAME_FIELD(struct nvmf_tcp_icresp, dgst, struct nvme_tcp_icresp_pdu, digest);
SAME_FIELD(struct nvmf_tcp_icresp, maxh2cdata, struct nvme_tcp_icresp_pdu, maxdata);
SAME_SIZE(struct nvmf_tcp_term, struct nvme_tcp_term_pdu);
SAME_FIELD(struct nvmf_tcp_term, fes, struct nvme_tcp_term_pdu, fes);
FIELD_AT(struct nvme_tcp_term_pdu, feil, offsetof(struct nvmf_tcp_term, fei), 2);
FIELD_AT(struct nvme_tcp_term_pdu, feiu, offsetof(struct nvmf_tcp_term, fei) + 2, 2);
SAME_SIZE(struct nvmf_tcp_cmd, struct nvme_tcp_cmd_pdu);
SAME_FIELD(struct nvmf_tcp_cmd, sqe, struct nvme_tcp_cmd_pdu, cmd);
SAME_SIZE(struct nvmf_tcp_rsp, struct nvme_tcp_rsp_pdu);
SAME_FIELD(struct nvmf_tcp_rsp, cqe, struct nvme_tcp_rsp_pdu, cqe);
SAME_SIZE(struct nvmf_tcp_data, struct nvme_tcp_data_pdu);
SAME_FIELD(struct nvmf_tcp_data, cid, struct nvme_tcp_data_pdu, command_id);
SAME_FIELD(struct nvmf_tcp_data, ttag, struct nvme_tcp_data_pdu, ttag);
SAME_FIELD(struct nvmf_tcp_data, offset, struct nvme_tcp_data_pdu, data_offset);
SAME_FIELD(struct nvmf_tcp_data, length, struct nvme_tcp_data_pdu, data_length);
SAME_SIZE(struct nvmf_tcp_r2t, struct nvme_tcp_r2t_pdu);
SAME_FIELD(struct nvmf_tcp_r2t, cid, struct nvme_tcp_r2t_pdu, command_id);
SAME_FIELD(struct nvmf_tcp_r2t, ttag, struct nvme_tcp_r2t_pdu, ttag);
SAME_FIELD(struct nvmf_tcp_r2t, offset, struct nvme_tcp_r2t_pdu, r2t_offset);
SAME_FIELD(struct nvmf_tcp_r2t, length, struct nvme_tcp_r2t_pdu, r2t_length);
SAME_VALUE(NVMF_TCP_PFV, NVME_TCP_PFV_1_0);
SAME_VALUE(NVMF_TCP_DIGEST_SIZE, NVME_TCP_DIGEST_LENGTH);
SAME_VALUE(NVMF_TCP_ADMIN_IN_CAPSULE, NVME_TCP_ADMIN_CCSZ);
SAME_VALUE(NVMF_TCP_ICREQ, nvme_tcp_icreq);
SAME_VALUE(NVMF_TCP_ICRESP, nvme_tcp_icresp);
SAME_VALUE(NVMF_TCP_H2C_TERM, nvme_tcp_h2c_term);
SAME_VALUE(NVMF_TCP_C2H_TERM, nvme_tcp_c2h_term);
SAME_VALUE(NVMF_TCP_CMD, nvme_tcp_cmd);
SAME_VALUE(NVMF_TCP_RSP, nvme_tcp_rsp);
SAME_VALUE(NVMF_TCP_H2C_DATA, nvme_tcp_h2c_data);
SAME_VALUE(NVMF_TCP_C2H_DATA, nvme_tcp_c2h_data);
SAME_VALUE(NVMF_TCP_R2T, nvme_tcp_r2t);
SAME_VALUE(NVMF_TCP_F_HDGST, NVME_TCP_F_HDGST);
SAME_VALUE(NVMF_TCP_F_DDGST, NVME_TCP_F_DDGST);
SAME_VALUE(NVMF_TCP_F_LAST, NVME_TCP_F_DATA_LAST);
SAME_VALUE(NVMF_TCP_F_SUCCESS, NVME_TCP_F_DATA_SUCCESS);
SAME_VALUE(NVMF_TCP_DGST_HEADER, NVME_TCP_HDR_DIGEST_ENABLE);
SAME_VALUE(NVMF_TCP_DGST_DATA, NVME_TCP_DATA_DIGEST_ENABLE);
SAME_VALUE(NVMF_TCP_FES_HEADER, NVME_TCP_FES_INVALID_PDU_HDR);
SAME_VALUE(NVMF_TCP_FES_SEQUENCE, NVME_TCP_FES_PDU_SEQ_ERR);
SAME_VALUE(NVMF_TCP_FES_HDGST, NVME_TCP_FES_HDR_DIGEST_ERR);
SAME_VALUE(NVMF_TCP_FES_RANGE, NVME_TCP_FES_DATA_OUT_OF_RANGE);
SAME_VALUE(NVMF_TCP_FES_LIMIT, NVME_TCP_FES_R2T_LIMIT_EXCEEDED);
SAME_VALUE(NVMF_TCP_FES_UNSUPPORTED, NVME_TCP_FES_UNSUPPORTED_PARAM);
SAME_VALUE(NVMF_SGL_TRANSPORT, NVME_TRANSPORT_SGL_DATA_DESC << 4 | NVME_SGL_FMT_TRANSPORT_A);
