/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files whose code programs run, kept for the life of the server: a second capture need not
 * index a library again. A module is also made for code without a file: that of a JIT compiler, and
 * the kernel's pages in each process.
 *
 * A file is mapped while its module is open: then its bytes outlive its name, its process and its
 * container. It is closed with the last reference, so that the server keeps no file system busy;
 * what was computed from it stays until memory is needed, and is used again if the file is opened
 * again and has not changed.
 *
 * Threads: any. Each function locks inside. A mutex of the cache protects the table of modules,
 * the references and the count of bytes; it is never held during I/O. A mutex of each module
 * protects opening and computing, so a file system that does not answer delays only threads that
 * want the same file.
 */
#ifndef DAEMON_MODULES_H
#define DAEMON_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct elf_image;
struct module;
struct modules;
struct stat;

/*
 * An identity tells modules apart. Two modules with different paths are different, even if the file
 * is the same.
 */
struct module_identity {
	dev_t device;
	uint64_t inode; /* 0: unknown */
	const uint8_t *build_id; /* NULL: unknown */
	size_t n_build_id_bytes; /* at most ELF_BUILD_ID_MAX_BYTES */
	const char *path; /* in the process; it does not end with " (deleted)" */
};

/*
 * Makes a cache of at most |max_bytes|: heap memory, not mapped files. Modules without references
 * are dropped, those first that were not used for the longest time. If those with references need
 * more, they do without. NULL: out of memory. modules_free() needs all references back; it takes
 * NULL, and returns NULL.
 */
struct modules *modules_new(uint64_t max_bytes);
struct modules *modules_free(struct modules *c);

/*
 * Finds the module of a file, or makes it; nothing is opened.
 * Owner: *out is a reference of the caller (module_unref()).
 * Errors: 0; -ENOSPC: the cache is full of modules in use; -ENOMEM.
 */
int modules_find(struct modules *c, const struct module_identity *id, struct module **out);
/* Makes a module for a process's code that has no file. Owner and errors: as modules_find(). */
int modules_make_jit(struct modules *c, struct module **out);

/* Modules that are always there; the pointers are borrowed and live as long as the cache. */
struct module *modules_get_vdso(struct modules *c); /* of a process with our word size */
struct module *modules_get_other_vdso(struct modules *c); /* of a 32-bit process */
struct module *modules_get_vsyscall(struct modules *c);

/* Gives a reference back. */
void module_unref(struct module *m);

/* The path is borrowed; for code without a file it is a name in brackets, such as "[vdso]". */
const char *module_get_path(const struct module *m);
/*
 * Returns true if the code has no file. The offset of an instruction is then its address, and a
 * perf_map may know its name.
 */
bool module_is_jit(const struct module *m);
/* Returns true if the file is named like one of jitdump, jit-PID.dump. */
bool module_is_jitdump(const struct module *m);

/*
 * Opens the file of a module, which the process |pid| has mapped from |start| to |end|. A module
 * that is open stays as it is. Call it when the first sample of a module comes: a process that has
 * ended, or its container, may take the file along. |root| is "" or a test's fake root.
 * Errors: 0; -ENOENT: no file was found, or the module has none; -ENOEXEC: it is no ELF file;
 * -ESTALE: it is a file with another build-id; -EMFILE: too many modules are open; or another
 * negative errno. A failure is remembered for this pid, so it may be called for each sample.
 */
int module_open(struct module *m, const char *root, pid_t pid, uint64_t start, uint64_t end);

/*
 * Returns the image, or NULL if the module is not open. It is borrowed, and valid as long as the
 * caller's reference.
 */
const struct elf_image *module_get_image(struct module *m);

/*
 * Opens the file for reading, without a change of the module. Returns a descriptor, which the
 * caller owns, and sets *st; or what target_file_open_mapped() returns.
 */
int module_open_file(struct module *m, const char *root, pid_t pid, uint64_t start, uint64_t end,
	struct stat *st);

/*
 * Sets *bytes to a small ELF file for libdw, see elf_image_copy_unwind_tables(). It is borrowed,
 * and valid as long as the caller's reference. Errors: 0; -ENOENT: the module is not open, or has
 * no such tables; -ENOSPC: the cache has no room; or another negative errno.
 */
int module_load_unwind_tables(struct module *m, const void **bytes, size_t *n_bytes);

/*
 * Writes the name of the code at |offset| in the file into |out| (|size| bytes, at least 1), as
 * printable text that is cut to fit: the name of the function as the file has it (not demangled),
 * or "libc.so.6+0x1234", or the name in brackets of code without a file. The first call for a
 * module indexes its symbols, which takes up to 0.1 s. Returns the length of the whole name.
 */
size_t module_write_name(struct module *m, uint64_t offset, char *out, size_t size);

#endif
