/* SPDX-License-Identifier: Apache-2.0 */
/* Pools, files and keys: memory that processes share which were not started together. None of it needs a job.

   A pool is memory with an allocator inside that all attached processes use at once. A file is a pool that persists. A
   key is a short printable string that lets another process map one buffer (or attach to the whole pool). Conventions
   are those of shmemx.h, which includes this header: 0 or a negative errno, the sentence in shmemx_last_error(), any
   thread at any time. A pool or import that was closed gives -EBADF, until many others were closed after it
   and the handle may be that of a new one; using it never reads memory that was freed. A process that is killed at any
   instant disturbs nobody: what it had allocated and neither kept nor exported returns to the pool. After fork the
   child's handles work: it attaches as a process of its own at first use, and its end changes nothing for the parent. */
#ifndef SHMEMX_POOL_H
#define SHMEMX_POOL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SHMEMX_API
#define SHMEMX_API __attribute__((visibility("default")))
#endif

/* --- pools ------------------------------------------------------------------------------------------------------- */

typedef struct shmemx_pool *shmemx_pool_t;

#define SHMEMX_PAGES_USUAL 0u
#define SHMEMX_PAGES_TRANSPARENT 1u /* huge pages where the kernel can make them (THP) */

/* How a pool is to be. Begin with SHMEMX_POOL_ATTR. */
typedef struct {
    size_t size;       /* bytes for buffers, taken now; rounded up to whole pages */
    size_t max_size;   /* how far it can grow; 0: 8 times the size, at least 1 GiB. Address space only until then */
    int grow;          /* not 0: an allocation that finds no room makes it grow by itself */
    const char *type;  /* "host", "npu", "cuda" or "auto"; NULL: "host" */
    const char *name;  /* other processes of this user open it by this name; NULL: only by key */
    size_t page_size;  /* SHMEMX_PAGES_, or the size of a huge page in bytes (2 MiB, 1 GiB) */
    int numa_node;     /* on this node; -1: wherever */
    int lock;          /* not 0: locked in memory, never swapped out */
    const char *cache; /* "write-back" (what host memory is), or what a device's memory offers; NULL: as it comes */
} shmemx_pool_attr_t;
#define SHMEMX_POOL_ATTR                                                                                               \
    {                                                                                                                  \
        0, 0, 0, NULL, NULL, SHMEMX_PAGES_USUAL, -1, 0, NULL                                                           \
    }

/* Makes a pool. -ENOMEM with what limits it (nothing is taken then), -EEXIST when the name is in use, -ENODEV when the
   type of memory is not to be had here, -ENOTSUP or -EPERM for a wish that cannot be honoured, with the reason. */
SHMEMX_API int shmemx_pool_create(const shmemx_pool_attr_t *attr, shmemx_pool_t *out);

/* Attaches to a pool of another process of this user: by its name, or by a key of shmemx_pool_export(). -ENOENT: no
   living process has a pool of that name; -EKEYEXPIRED: nobody living has the pool of that key. */
SHMEMX_API int shmemx_pool_open(const char *name_or_key, shmemx_pool_t *out);

/* Detaches. Buffers that this process allocated and neither kept nor exported return to the pool; so does nothing else.
   The handle and this process's pointers into the pool are gone. When the last process has detached, so is the pool. */
SHMEMX_API int shmemx_pool_close(shmemx_pool_t pool);

/* Makes the pool larger while others use it: to `size` bytes in all. Pointers stay valid. -EFBIG beyond max_size,
 * -ENOMEM. */
SHMEMX_API int shmemx_pool_grow(shmemx_pool_t pool, size_t size);

/* Flags of shmemx_pool_alloc(). */
#define SHMEMX_OWN 1u  /* a segment of its own: can be exported with rights of its own, and frozen. Not in files */
#define SHMEMX_KEEP 2u /* outlives this process: stays allocated until somebody frees it */
#define SHMEMX_ZERO 4u /* filled with zeros; otherwise it holds what was there */

/* Allocates `size` bytes (0 counts as 1) aligned to `align` (a power of two up to 2 MiB; 0: 64). -ENOMEM says how much
   is free and what the largest free block is; -EMFILE when SHMEMX_OWN finds no descriptor left. */
SHMEMX_API int shmemx_pool_alloc(shmemx_pool_t pool, size_t size, size_t align, unsigned flags, void **out);

/* Frees a buffer, whoever of the attached processes allocated it; its keys are revoked. -EINVAL for a pointer that is
   no buffer of this pool or was freed before. Others that still use the buffer see what becomes of it. */
SHMEMX_API int shmemx_pool_free(shmemx_pool_t pool, void *buffer);

/* As SHMEMX_KEEP, afterwards. In a file every buffer is kept from the start. */
SHMEMX_API int shmemx_pool_keep(shmemx_pool_t pool, void *buffer);

/* The buffer that holds this address: where it begins and how many bytes it can hold. -EINVAL: none. */
SHMEMX_API int shmemx_pool_buffer(shmemx_pool_t pool, const void *address, void **begin, size_t *bytes);

/* Addresses differ between processes; offsets do not. Of a buffer in the pool's main segment (not SHMEMX_OWN). */
SHMEMX_API int shmemx_pool_offset(shmemx_pool_t pool, const void *address, uint64_t *offset);
SHMEMX_API int shmemx_pool_address(shmemx_pool_t pool, uint64_t offset, size_t bytes, void **out);

typedef struct {
    size_t size;     /* bytes for buffers now */
    size_t max_size; /* how far it can grow */
    size_t in_use;   /* bytes in buffers that are allocated, as rounded up by the allocator; own segments included */
    size_t buffers;  /* how many those are */
    size_t free;     /* bytes that an allocation could still get, in pieces */
    size_t largest_free; /* the largest single buffer that would fit now without growing */
    size_t high_water;   /* most bytes that were ever taken at once, in whole 4 KiB units; own segments included */
    unsigned members;    /* processes attached */
    unsigned died;       /* processes that died while attached, since the pool was made */
    unsigned owned;      /* buffers with segments of their own, of this process */
    char failure[256];   /* why the last allocation of this process failed; empty if none did */
} shmemx_pool_stats_t;
SHMEMX_API int shmemx_pool_stats(shmemx_pool_t pool, shmemx_pool_stats_t *out);

typedef struct {
    char type[16];     /* of memory: "host" */
    char name[256];    /* empty: none */
    char path[512];    /* of the file; empty: none */
    size_t page_size;  /* bytes a page of what was obtained, at most */
    size_t huge_bytes; /* how many bytes are in huge pages now */
    int numa_node;     /* where the first page lies; -1: not known */
    int locked;
    char cache[16];     /* "write-back" */
    char fallback[128]; /* what was asked for and is replaced by something else, and why; empty: nothing */
    void *base;         /* the main segment in this process */
    int writable;       /* 0: a file opened for reading, or copy on write */
} shmemx_pool_info_t;
SHMEMX_API int shmemx_pool_info(shmemx_pool_t pool, shmemx_pool_info_t *out);

/* --- files ------------------------------------------------------------------------------------------------------- */

/* Makes a file that is a pool. attr->size: bytes for buffers (the file is somewhat larger), all reserved on disk at
   once: -ENOSPC writes nothing. attr->type must be host. -EEXIST: never overwrites. -EOPNOTSUPP names a file system
   that cannot reserve space or share memory. Its mode is 0600: chmod it to let others in. */
SHMEMX_API int shmemx_file_create(const char *path, const shmemx_pool_attr_t *attr, shmemx_pool_t *out);

/* Opens one: mode "rw" (as many processes at once as like), "r" (nothing is written, not even by attaching; a write
   faults), "cow" (changes stay private). What a killed process left half done is completed or undone first. After a
   power loss the file is as flush left it. -EINVAL, -EILSEQ, -EPROTO say what is wrong: not such a file, truncated,
   damaged and where, or written by a newer version. */
SHMEMX_API int shmemx_file_open(const char *path, const char *mode, shmemx_pool_t *out);

typedef struct {
    unsigned version;        /* of the format */
    int clean;               /* 1: closed in an orderly way, and not opened for writing since */
    int attached;            /* 1: some process has it open for writing */
    uint64_t generation;     /* grows with every flush */
    uint64_t created;        /* seconds since 1970 */
    uint64_t size, max_size; /* bytes for buffers, and how many it can grow to */
    uint64_t begin;          /* where the buffers begin in the file */
    char name[256];          /* attr->name when it was made; a label for people */
} shmemx_file_header_t;

/* Reads the header of a file, without opening it otherwise. Errors as of shmemx_file_open(). */
SHMEMX_API int shmemx_file_header(const char *path, shmemx_file_header_t *out);

/* Everything written before is on disk when it returns, and survives a power loss unless it is changed again. */
SHMEMX_API int shmemx_pool_flush(shmemx_pool_t pool);

/* --- names: objects found again ----------------------------------------------------------------------------------- */

#define SHMEMX_NAME_MOST 95  /* bytes of a name */
#define SHMEMX_NOTE_MOST 544 /* bytes of a note */

typedef struct {
    char name[SHMEMX_NAME_MOST + 1];
    void *address;
    size_t bytes; /* as given when it was named */
    unsigned char note[SHMEMX_NOTE_MOST];
    size_t note_bytes;
} shmemx_named_t;

/* Allocates a buffer and gives it a name, in one step: whoever finds the name finds it whole, and a process killed on
   the way leaves neither. init (may be NULL) is called with the buffer before anybody can find it. -EEXIST. The buffer
   is kept. note: bytes that describe it, such as dtype and shape. */
SHMEMX_API int shmemx_pool_alloc_named(shmemx_pool_t pool, const char *name, size_t size, size_t align,
                                       const void *note, size_t note_bytes, int (*init)(void *buffer, void *context),
                                       void *context, void **out);

/* Names a buffer that there is (not SHMEMX_OWN), and keeps it. bytes: how many of it are meant. -EEXIST. */
SHMEMX_API int shmemx_pool_name(shmemx_pool_t pool, const char *name, void *buffer, size_t bytes, const void *note,
                                size_t note_bytes);

/* -ENOENT. */
SHMEMX_API int shmemx_pool_find(shmemx_pool_t pool, const char *name, shmemx_named_t *out);

/* What a name or key stands for. All but buffers are of shmemx_sync.h and shmemx_queue.h. */
typedef enum {
    SHMEMX_IS_BUFFER, /* or a whole pool */
    SHMEMX_IS_MUTEX,
    SHMEMX_IS_RWLOCK,
    SHMEMX_IS_SEMAPHORE,
    SHMEMX_IS_COND,
    SHMEMX_IS_BARRIER,
    SHMEMX_IS_EVENT,
    SHMEMX_IS_WORD,
    SHMEMX_IS_QUEUE,
    SHMEMX_IS_GROUP /* of shmemx_group.h; by key only */
} shmemx_is_t;

/* A shmemx_is_t. -ENOENT. Also of the symmetric heap: shmemx_symmetric(), in shmemx_sync.h. */
SHMEMX_API int shmemx_pool_what(shmemx_pool_t pool, const char *name);

/* The name goes; the buffer stays until it is freed. Freeing a buffer takes its names along. -ENOENT. */
SHMEMX_API int shmemx_pool_unname(shmemx_pool_t pool, const char *name);

/* Steps through the names: *cursor is 0 at first. 1: *out is the next; 0: that was all. */
SHMEMX_API int shmemx_pool_next_name(shmemx_pool_t pool, uint64_t *cursor, shmemx_named_t *out);

/* --- keys -------------------------------------------------------------------------------------------------------- */

#define SHMEMX_KEY_TEXT 80 /* bytes of a key with its zero byte, at most */

/* A shmemx_is_t: what a key opens that belongs to a pool which this process is attached to, and (where pool is not
   NULL) which of its handles that is. -ENOKEY: it is attached to none such. -EINVAL, -EKEYREVOKED as of
   shmemx_import().
 */
SHMEMX_API int shmemx_key_what(const char *key, shmemx_pool_t *pool);

/* Rights. */
#define SHMEMX_RIGHT_READ 1u
#define SHMEMX_RIGHT_WRITE 2u
#define SHMEMX_RIGHT_ADD 4u
#define SHMEMX_RIGHT_BITS 8u /* and, or, xor */
#define SHMEMX_RIGHT_SWAP 16u
#define SHMEMX_RIGHT_CAS 32u
#define SHMEMX_RIGHTS_ATOMIC 60u
#define SHMEMX_RIGHTS_ALL 63u

typedef enum { SHMEMX_ALLOW_USER = 1, SHMEMX_ALLOW_GROUP, SHMEMX_ALLOW_PE, SHMEMX_ALLOW_TOKEN } shmemx_allow_kind_t;

/* Who may use a key, and how: a user or group id, a PE of this process's job, or whoever shows a token. */
typedef struct {
    shmemx_allow_kind_t kind;
    unsigned rights;
    uint64_t id;       /* user, group, PE */
    const char *token; /* of shmemx_token(), for SHMEMX_ALLOW_TOKEN */
} shmemx_allow_t;

/* Begin with SHMEMX_EXPORT_ATTR. */
typedef struct {
    unsigned rights; /* for processes of this user that `allow` does not name; with an allow list 0 is usual */
    const shmemx_allow_t *allow; /* at most 16 */
    size_t allowed;
    int frozen; /* nobody can get it for writing any more, the kernel sees to it; what is mapped for writing stays so */
    const void *note; /* travels along, such as dtype, shape and strides; at most SHMEMX_NOTE_MOST bytes */
    size_t note_bytes;
} shmemx_export_attr_t;
#define SHMEMX_EXPORT_ATTR                                                                                             \
    {                                                                                                                  \
        SHMEMX_RIGHT_READ | SHMEMX_RIGHT_WRITE | SHMEMX_RIGHTS_ATOMIC, NULL, 0, 0, NULL, 0                             \
    }

/* 128 random bits as text, to be given to whoever is to show it. */
SHMEMX_API int shmemx_token(char out[33]);

/* Makes a key of [address, address + bytes), which lies in a buffer of an open pool or file, in the symmetric heap, or
   in whole pages of a registered region. Rights of its own for other users, groups, PEs or tokens, and `frozen`, need a
   segment of its own: -EACCES says so otherwise. The buffer is kept until it is freed. attr NULL: SHMEMX_EXPORT_ATTR.
 */
SHMEMX_API int shmemx_export(const void *address, size_t bytes, const shmemx_export_attr_t *attr,
                             char key[SHMEMX_KEY_TEXT]);

/* A key that opens the whole pool to other processes of this user (shmemx_pool_open). */
SHMEMX_API int shmemx_pool_export(shmemx_pool_t pool, char key[SHMEMX_KEY_TEXT]);

/* No imports with this key any more; those that there are stay. move not 0: the buffer, which must have a segment of
   its own, gets new memory at the same address with the same contents, and importers are left with the abandoned copy.
 */
SHMEMX_API int shmemx_revoke(const char *key, int move);

typedef struct shmemx_import *shmemx_import_t;

typedef enum {
    SHMEMX_IMPORT_READ,
    SHMEMX_IMPORT_WRITE,
    SHMEMX_IMPORT_COW,
    SHMEMX_IMPORT_SNAPSHOT,
    SHMEMX_IMPORT_ATOMIC
} shmemx_import_mode_t;

typedef struct {
    void *address; /* NULL with SHMEMX_IMPORT_ATOMIC */
    size_t bytes;
    unsigned rights; /* that this process was granted */
    shmemx_import_mode_t mode;
    const void *note; /* as exported; valid as long as the import */
    size_t note_bytes;
} shmemx_import_info_t;

/* Maps what a key opens. token: what the exporter's allow list asks for, or NULL. Importing twice costs no second
   mapping. A process that is attached to the pool gets the memory to read and write where it has it already, valid as
   long as it is attached; everybody else a mapping that lasts as long as the import. -EINVAL the key is malformed,
   -ENOKEY unknown, -EKEYREVOKED revoked, -EACCES refused, -EKEYEXPIRED nobody living holds it. -EMEDIUMTYPE: it opens
   memory of a device, which shmemx_device_import() maps. */
SHMEMX_API int shmemx_import(const char *key, shmemx_import_mode_t mode, const char *token, shmemx_import_t *out);
SHMEMX_API int shmemx_import_info(shmemx_import_t import, shmemx_import_info_t *out);
SHMEMX_API int shmemx_import_close(shmemx_import_t import);

typedef enum {
    SHMEMX_KEY_FETCH,
    SHMEMX_KEY_SET,
    SHMEMX_KEY_ADD,
    SHMEMX_KEY_AND,
    SHMEMX_KEY_OR,
    SHMEMX_KEY_XOR,
    SHMEMX_KEY_SWAP,
    SHMEMX_KEY_CAS
} shmemx_key_atomic_t;

/* An atomic on the `width` (4 or 8) bytes at `offset`, as the granted rights allow: directly where the memory is mapped
   for writing, else by the owner's service thread. before (may be NULL): the value that was there. */
SHMEMX_API int shmemx_import_atomic(shmemx_import_t import, shmemx_key_atomic_t op, unsigned width, uint64_t offset,
                                    uint64_t operand, uint64_t compare, uint64_t *before);

#ifdef __cplusplus
}
#endif

#endif
