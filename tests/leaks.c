/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the search for leaks begins, in programs with sanitizers. Of its own
 * accord it reads all variables at each end of a program, the sanitizers'
 * megabytes of them included. Ours has none that own memory, so that those of
 * the libraries that are there at its end suffice. They are copied into one
 * block: for each region that it is told of it reads /proc/self/maps anew.
 */
#include <link.h>
#include <sanitizer/lsan_interface.h>
#include <stdlib.h>
#include <string.h>

const char *__lsan_default_options(void);
const char *__lsan_default_suppressions(void);

const char *__lsan_default_options(void)
{
    return "use_globals=0:print_suppressions=0";
}

/* newlocale() of glibc with LOCPATH, for libraries of libcurl. */
const char *__lsan_default_suppressions(void)
{
    return "leak:__argz_add_sep";
}

struct variables {
    char *copy; /* or NULL: only count */
    size_t length;
};

static int add_variables(struct dl_phdr_info *module, size_t size, void *data)
{
    (void)size;
    struct variables *variables = data;
    const char *path = module->dlpi_name;
    if (!*path || strstr(path, "/libasan.") || strstr(path, "/libubsan."))
        return 0;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
            continue;
        /* Pointers stay where they can be seen as such. */
        size_t skew = part->p_vaddr % sizeof(void *);
        if (variables->copy != NULL)
            memcpy(variables->copy + variables->length + skew,
                   (const char *)module->dlpi_addr + part->p_vaddr,
                   part->p_memsz);
        variables->length += (skew + part->p_memsz + sizeof(void *)) /
                             sizeof(void *) * sizeof(void *);
    }
    return 0;
}

__attribute__((destructor)) static void keep_libraries(void)
{
    struct variables variables = {NULL, 0};
    dl_iterate_phdr(add_variables, &variables);
    variables.copy = malloc(variables.length);
    if (variables.copy == NULL)
        return;
    variables.length = 0;
    dl_iterate_phdr(add_variables, &variables);
    __lsan_ignore_object(variables.copy);
}
