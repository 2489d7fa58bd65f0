// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passthrough: who may send what. A command is judged by the copy that was made of it,
 * before anything of it is mapped.
 */
#include "passthru.h"

/* Opcodes, beyond those that the driver uses itself, with rules of their own. */
#define KDP_IO_COMPARE		0x05
#define KDP_OPC_VENDOR		0x80	/* I/O: this and above */

static bool kdp_known_identify(u8 cns)
{
	switch (cns) {
	case 0x00:	/* namespace */
	case 0x01:	/* controller */
	case 0x02:	/* active namespaces */
	case 0x03:	/* namespace identification descriptors */
	case 0x05:	/* namespace, by command set */
	case 0x06:	/* controller, by command set */
	case 0x08:	/* namespace, independent of command sets */
		return true;
	default:
		return false;
	}
}

/*
 * Everybody may send the harmless Identify; the rest needs CAP_SYS_ADMIN; and what would
 * work against this driver's own use of the queue nobody: the Fabrics commands but
 * Property Get, and Asynchronous Event Request, whose answer may never come.
 */
static int kdp_permit_admin(const struct nvme_passthru_cmd64 *c)
{
	if (c->opcode == NVMF_ADM_IDENTIFY && kdp_known_identify(c->cdw10 & 0xff))
		return 0;
	if (!capable(CAP_SYS_ADMIN))
		return -EACCES;
	if (c->opcode == NVMF_OPC_FABRICS)
		return (c->nsid & 0xff) == NVMF_FCTYPE_PROPERTY_GET ? 0 : -EOPNOTSUPP;
	if (c->opcode == NVMF_ADM_ASYNC_EVENT)
		return -EOPNOTSUPP;
	return 0;
}

/*
 * Writing needs a file that is open for writing, or CAP_SYS_ADMIN (nvme-cli opens for
 * reading whatever it does). What is not known to leave the namespace as it is counts
 * as writing.
 */
static bool kdp_may_write(const struct nvme_passthru_cmd64 *c, unsigned int open)
{
	switch (c->opcode) {
	case NVMF_IO_READ:
	case NVMF_IO_FLUSH:
	case KDP_IO_COMPARE:
		return true;
	default:
		return (open & KDP_OPEN_WRITE) || capable(CAP_SYS_ADMIN);
	}
}

static int kdp_permit_io(const struct kdp_node *node, const struct nvme_passthru_cmd64 *c)
{
	if (c->nsid != node->ns->nsid)
		return -EINVAL;
	if (c->opcode == NVMF_OPC_FABRICS)
		return -EOPNOTSUPP;
	if (c->opcode >= KDP_OPC_VENDOR && !capable(CAP_SYS_ADMIN))
		return -EACCES;
	return kdp_may_write(c, node->open) ? 0 : -EACCES;
}

/* May it be sent? Of its data only kdp_check_data() knows. Returns 0 or a negative errno. */
int kdp_permit(const struct kdp_node *node, const struct kdp_command *cmd)
{
	const struct nvme_passthru_cmd64 *c = &cmd->c;

	/* a command can name any block: a partition would not confine who has only that */
	if (node->open & KDP_OPEN_PARTITION && !capable(CAP_SYS_ADMIN))
		return -EACCES;
	if (c->flags || c->rsvd1 || c->rsvd2)
		return -EINVAL;
	if (c->metadata || c->metadata_len)	/* no namespace here has any */
		return -EINVAL;
	return cmd->admin ? kdp_permit_admin(c) : kdp_permit_io(node, c);
}

/* Data bytes that an I/O command must have, or -1 where only the sender knows. */
static s64 kdp_expected_length(const struct kdp_ns *ns, const struct nvme_passthru_cmd64 *c)
{
	switch (c->opcode) {
	case NVMF_IO_READ:
	case NVMF_IO_WRITE:
	case KDP_IO_COMPARE:
		return ((s64)(c->cdw12 & 0xffff) + 1) << ns->info.lba_shift;
	default:
		return c->opcode & (NVMF_OPC_TO_CTRL | NVMF_OPC_TO_HOST) ? -1 : 0;
	}
}

/* The length of its data, against what the command says. Returns 0 or -EINVAL. */
int kdp_check_data(const struct kdp_node *node, const struct kdp_command *cmd)
{
	const struct nvme_passthru_cmd64 *c = &cmd->c;
	u8 dir = c->opcode & (NVMF_OPC_TO_CTRL | NVMF_OPC_TO_HOST);
	s64 expected = cmd->admin ? -1 : kdp_expected_length(node->ns, c);

	if (c->opcode == NVMF_OPC_FABRICS)	/* its direction stands in the type */
		dir = 0;
	if (c->data_len > node->ctrl->max_transfer)
		return -EINVAL;
	if (c->data_len && (!dir || dir == (NVMF_OPC_TO_CTRL | NVMF_OPC_TO_HOST)))
		return -EINVAL;
	/* the transport moves whole dwords */
	if (c->data_len & 3)
		return -EINVAL;
	return expected >= 0 && expected != c->data_len ? -EINVAL : 0;
}
