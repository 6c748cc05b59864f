/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_COMPILER_H
#define SMTUNE_BASE_COMPILER_H

/* Compiler attributes, so that no other file spells them out. */

#define PRINTF_LIKE(format_index, first_arg)                                   \
    __attribute__((format(printf, format_index, first_arg)))
#define MUST_USE __attribute__((warn_unused_result))
#define NORETURN __attribute__((noreturn))
#define UNUSED   __attribute__((unused))

/*
 * A loop over many numbers, compiled for several generations of processors,
 * of which the program takes the best at its start. Older versions of clang
 * cannot link it.
 */
#if defined(__x86_64__) && (!defined(__clang__) || __clang_major__ >= 19)
#define SIMD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SIMD_CLONES
#endif

/*
 * AddressSanitizer keeps notes about stacks. It must be told when a stack of
 * our own making is taken into use again.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#endif
#ifdef HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#define FRESH_STACK(memory, bytes) ASAN_UNPOISON_MEMORY_REGION(memory, bytes)
#else
#define FRESH_STACK(memory, bytes) ((void)0)
#endif

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
