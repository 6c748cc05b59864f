/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_SYSTEM_ORPHANS_H
#define SMTUNE_BASE_SYSTEM_ORPHANS_H

/*
 * From now on, processes below this one whose parents end become its children,
 * to be found and waited for. A process that qemu emulates cannot have that:
 * then the result is 0 too, and the orphans become children of init. -1 with
 * errno otherwise.
 */
int orphans_adopt(void);

#endif
