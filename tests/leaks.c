/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the search for leaks begins, in programs with sanitizers. Of its own
 * accord it reads all variables at each end of a program, the sanitizers'
 * megabytes of them included. Ours has none that own memory, so that those of
 * the libraries that are there at its end suffice.
 */
#include <link.h>
#include <sanitizer/lsan_interface.h>
#include <stddef.h>
#include <string.h>

const char *__lsan_default_options(void);

const char *__lsan_default_options(void)
{
    return "use_globals=0";
}

static int add_variables(struct dl_phdr_info *module, size_t size, void *data)
{
    (void)size, (void)data;
    const char *path = module->dlpi_name;
    if (!*path || strstr(path, "/libasan.") || strstr(path, "/libubsan."))
        return 0;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_W)
            __lsan_register_root_region(
                (void *)(module->dlpi_addr + part->p_vaddr), part->p_memsz);
    }
    return 0;
}

__attribute__((destructor)) static void add_libraries(void)
{
    dl_iterate_phdr(add_variables, NULL);
}
