/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/file_system.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "base/compiler.h"

enum { FUSE_TYPE = 0x65735546 };

/* The numbers are the kernel's, or the file system's own where it is not a
 * part of it. */
static const struct {
    uint32_t type;
    const char *name;
} networks[] = {
    {0x6969, "NFS"},        {0x517b, "SMB"},        {0xff534d42, "CIFS"},
    {0xfe534d42, "SMB"},    {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"}, {0x5346414f, "AFS"},    {0x6b414653, "AFS"},
    {0x01021997, "9p"},     {0x00c36400, "Ceph"},   {0x20030528, "OrangeFS"},
    {0xaad7aaea, "PanFS"},  {0x7461636f, "OCFS2"},  {0x01161970, "GFS2"},
    {0x73757245, "Coda"},   {0x564c, "NCP"},        {0x786f4256, "vboxsf"},
};

/* Programs behind FUSE that bring another machine's files. */
static const char *const fuse_networks[] = {
    "sshfs",  "glusterfs", "s3fs", "ceph",   "gcsfuse",
    "rclone", "juicefs",   "mfs",  "beegfs", "blobfuse",
    "davfs",  "curlftpfs", "nfs",  "smb",    "goofys",
};

/* The type of the mount that a path lies on: "fuse.sshfs". */
static int find_mount_type(const char *path, char *type, size_t size)
{
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    char line[4096];
    struct stat status;
    int found = 0;

    if (mounts == NULL || stat(path, &status) != 0) {
        if (mounts != NULL)
            fclose(mounts);
        return 0;
    }
    while (!found && fgets(line, sizeof(line), mounts) != NULL) {
        unsigned major_number, minor_number;
        const char *behind = strstr(line, " - ");

        if (behind == NULL ||
            sscanf(line, "%*d %*d %u:%u", &major_number, &minor_number) != 2 ||
            makedev(major_number, minor_number) != status.st_dev)
            continue;
        snprintf(type, size, "%.*s", (int)strcspn(behind + 3, " "), behind + 3);
        found = 1;
    }
    fclose(mounts);
    return found;
}

static int is_network_fuse(const char *path, char *name, size_t size)
{
    char type[64];

    if (!find_mount_type(path, type, sizeof(type)) ||
        strncmp(type, "fuse.", 5) != 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(fuse_networks); i++) {
        if (strstr(type + 5, fuse_networks[i]) == type + 5) {
            snprintf(name, size, "%s", type + 5);
            return 1;
        }
    }
    return 0;
}

int file_system_is_network(const char *path, char *name, size_t size)
{
    struct statfs status;

    if (statfs(path, &status) != 0)
        return 0;
    if ((uint32_t)status.f_type == FUSE_TYPE)
        return is_network_fuse(path, name, size);
    for (size_t i = 0; i < ARRAY_LEN(networks); i++) {
        if ((uint32_t)status.f_type == networks[i].type) {
            snprintf(name, size, "%s", networks[i].name);
            return 1;
        }
    }
    return 0;
}
