// SPDX-License-Identifier: GPL-2.0-only
/*
 * A region's pages.
 *
 * Memory is pinned for long (FOLL_LONGTERM). Pages of a page cache that are reached by a
 * file descriptor are held by references: that keeps them in memory, and in their file
 * until it gives them up. Both are paid for by the process that asked, in mm->pinned_vm, as
 * user-space RDMA pays.
 */
#include <linux/fs.h>
#include <linux/fcntl.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

#include "host.h"
#include "region.h"

#include "compat_mm.h"

/* Pages that are taken at a time, with the address space locked. */
#define KDP_PIN_BATCH	512

static bool kdp_is_shmem(const struct inode *inode)
{
	return S_ISREG(inode->i_mode) && inode->i_sb->s_magic == TMPFS_MAGIC;
}

/* May pages of its page cache change without telling the file system? */
static bool kdp_changes_unseen(const struct inode *inode)
{
	return kdp_is_shmem(inode) || inode->i_sb->s_magic == HUGETLBFS_MAGIC;
}

/* --- who pays ------------------------------------------------------------------- */

static int kdp_pages_pay(struct kdp_pages *pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct mm_struct *mm = current->mm;
	u64 pinned;

	if (!can_do_mlock())
		return -EPERM;
	pinned = atomic64_add_return(pages->nr, &mm->pinned_vm);
	if (pinned > limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(pages->nr, &mm->pinned_vm);
		return -ENOMEM;
	}
	mmgrab(mm);
	pages->payer = mm;
	return 0;
}

static int kdp_pages_alloc(struct kdp_pages *pages, u64 start, u64 length)
{
	u64 nr = (offset_in_page(start) + length + PAGE_SIZE - 1) >> PAGE_SHIFT;
	int err;

	if (nr > INT_MAX / sizeof(struct page *))
		return -ENOMEM;
	pages->nr = nr;
	pages->offset = offset_in_page(start);
	err = kdp_pages_pay(pages);
	if (err)
		return err;
	pages->page = kvcalloc(nr, sizeof(struct page *), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return pages->page ? 0 : -ENOMEM;
}

/* --- memory --------------------------------------------------------------------- */

/* What pinning pages of @vma takes. */
static int kdp_vma_flags(const struct vm_area_struct *vma, bool writable, unsigned int *flags)
{
	bool shared = vma->vm_flags & VM_SHARED;

	*flags = FOLL_LONGTERM;
	if (vma->vm_flags & (VM_IO | VM_PFNMAP))
		return -EOPNOTSUPP;
	if (writable && shared && vma->vm_file && !kdp_changes_unseen(file_inode(vma->vm_file)))
		return -EOPNOTSUPP;
	/* a private page that is written to later would be another one by then */
	if (writable || (!shared && vma->vm_flags & VM_WRITE))
		*flags |= FOLL_WRITE;
	return 0;
}

/* mmap_lock is held, so that the pages are those of the @vma that was looked at. */
static long kdp_pin_locked(u64 addr, unsigned long nr, bool writable, struct page **page)
{
	struct vm_area_struct *vma = find_vma(current->mm, addr);
	unsigned int flags;
	int err;

	if (!vma || vma->vm_start > addr)
		return -EFAULT;
	err = kdp_vma_flags(vma, writable, &flags);
	if (err)
		return err;
	nr = min3(nr, (vma->vm_end - addr) >> PAGE_SHIFT, (unsigned long)KDP_PIN_BATCH);
	return kdp_pin_user_pages(addr, nr, flags, page) ?: -EFAULT;
}

static long kdp_pin_some(u64 addr, unsigned long nr, bool writable, struct page **page)
{
	long got;

	/* task work of io_uring is not for who waits here */
	if (task_sigpending(current) || mmap_read_lock_killable(current->mm))
		return -EINTR;
	got = kdp_pin_locked(addr, nr, writable, page);
	mmap_read_unlock(current->mm);
	cond_resched();
	return got;
}

static void kdp_pages_drop(struct kdp_pages *pages, unsigned long nr)
{
	unsigned long i;

	if (pages->pinned) {
		unpin_user_pages_dirty_lock(pages->page, nr, pages->writable);
		return;
	}
	for (i = 0; i < nr; i++) {
		if (pages->writable)
			set_page_dirty_lock(pages->page[i]);
		put_page(pages->page[i]);
		cond_resched();
	}
}

/*
 * The memory of the calling process at @addr; @writable by the wire. May sleep. On failure a
 * negative errno, see KDP_IOC_REGION_ADD; kdp_pages_release() follows in either case.
 */
int kdp_pages_of_memory(struct kdp_pages *pages, u64 addr, u64 length, bool writable)
{
	unsigned long got = 0;
	long n;
	int err;

	if (!access_ok(u64_to_user_ptr(addr), length))
		return -EFAULT;
	err = kdp_pages_alloc(pages, addr, length);
	if (err)
		return err;
	pages->pinned = true;
	while (got < pages->nr) {
		n = kdp_pin_some((addr & PAGE_MASK) + (got << PAGE_SHIFT), pages->nr - got, writable,
				 pages->page + got);
		if (n < 0) {
			kdp_pages_drop(pages, got);
			kvfree(pages->page);
			pages->page = NULL;
			return n;
		}
		got += n;
	}
	pages->writable = writable;
	return 0;
}

/* --- pages of a page cache --------------------------------------------------------- */

static int kdp_check_file(const struct file *file, u64 offset, u64 length, u32 flags)
{
	const struct inode *inode = file_inode(file);
	u64 size = i_size_read(inode);

	if (flags & KDP_REGION_SEND && !(file->f_mode & FMODE_READ))
		return -EBADF;
	if (flags & KDP_REGION_RECEIVE && !(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!S_ISREG(inode->i_mode) || IS_DAX(inode))
		return -EOPNOTSUPP;
	if (!kdp_is_shmem(inode) &&
	    (flags & KDP_REGION_RECEIVE || !file->f_mapping->a_ops->read_folio))
		return -EOPNOTSUPP;
	return offset > size || length > size - offset ? -EINVAL : 0;
}

/* -EPERM when writing is sealed off; it cannot be as long as the region stands. */
static int kdp_deny_seals(const struct file *file)
{
	if (SHMEM_I(file_inode(file))->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return -EPERM;
	return mapping_map_writable(file->f_mapping);
}

static struct page *kdp_cached_page(struct file *file, pgoff_t index, unsigned long more)
{
	struct address_space *mapping = file->f_mapping;
	struct page *page;

	if (kdp_is_shmem(file_inode(file)))
		return shmem_read_mapping_page_gfp(mapping, index, mapping_gfp_mask(mapping));
	page = find_get_page(mapping, index);
	if (page && PageUptodate(page))
		return page;
	if (page)
		put_page(page);
	else
		page_cache_sync_readahead(mapping, &file->f_ra, file, index, more);
	return read_mapping_page(mapping, index, file);
}

static int kdp_take_cached(struct kdp_pages *pages, struct file *file, pgoff_t first)
{
	struct page *page;
	unsigned long i;
	int err = 0;

	for (i = 0; i < pages->nr; i++) {
		page = task_sigpending(current) ? ERR_PTR(-EINTR) :
		       kdp_cached_page(file, first + i, pages->nr - i);
		if (IS_ERR(page)) {
			err = PTR_ERR(page);
			break;
		}
		pages->page[i] = page;
		cond_resched();
	}
	if (err) {
		kdp_pages_drop(pages, i);
		kvfree(pages->page);
		pages->page = NULL;
	}
	return err == -EINTR || err == -ENOMEM || !err ? err : -EIO;
}

static int kdp_file_pages(struct kdp_pages *pages, struct file *file, u64 offset, u64 length,
			  u32 flags)
{
	bool writable = flags & KDP_REGION_RECEIVE;
	int err;

	err = kdp_check_file(file, offset, length, flags);
	if (err)
		return err;
	if (writable) {
		err = kdp_deny_seals(file);
		if (err)
			return err;
		pages->file = get_file(file);
	}
	err = kdp_pages_alloc(pages, offset, length);
	if (err)
		return err;
	err = kdp_take_cached(pages, file, offset >> PAGE_SHIFT);
	if (!err)
		pages->writable = writable;
	return err;
}

/*
 * @length bytes of the page cache of the file that is open as @fd, with the rights in
 * @flags. Otherwise as kdp_pages_of_memory().
 */
int kdp_pages_of_file(struct kdp_pages *pages, int fd, u64 offset, u64 length, u32 flags)
{
	struct file *file = fget(fd);
	int err;

	if (!file)
		return -EBADF;
	err = kdp_file_pages(pages, file, offset, length, flags);
	fput(file);
	return err;
}

/* Give back what there is. May sleep. */
void kdp_pages_release(struct kdp_pages *pages)
{
	if (pages->page)
		kdp_pages_drop(pages, pages->nr);
	kvfree(pages->page);
	if (pages->file) {
		mapping_unmap_writable(pages->file->f_mapping);
		fput(pages->file);
	}
	if (pages->payer) {
		atomic64_sub(pages->nr, &pages->payer->pinned_vm);
		mmdrop(pages->payer);
	}
	*pages = (struct kdp_pages) {};
}
