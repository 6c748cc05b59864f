/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/file_system.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "base/compiler.h"

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
static bool find_mount_type(const char *path, char *type, size_t size)
{
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    char line[4096];
    struct stat status;
    bool found = false;

    if (mounts == NULL || stat(path, &status) != 0) {
        if (mounts != NULL)
            fclose(mounts);
        return false;
    }
    while (!found && fgets(line, sizeof(line), mounts) != NULL) {
        unsigned major_number, minor_number;
        const char *behind = strstr(line, " - ");

        if (behind == NULL ||
            sscanf(line, "%*d %*d %u:%u", &major_number, &minor_number) != 2 ||
            makedev(major_number, minor_number) != status.st_dev)
            continue;
        snprintf(type, size, "%.*s", (int)strcspn(behind + 3, " "), behind + 3);
        found = true;
    }
    fclose(mounts);
    return found;
}

static bool is_network_fuse(const char *type)
{
    static const char prefix[] = "fuse.";

    if (strncmp(type, prefix, strlen(prefix)) != 0)
        return false;
    type += strlen(prefix);
    for (size_t i = 0; i < ARRAY_LEN(fuse_networks); i++) {
        if (strncmp(type, fuse_networks[i], strlen(fuse_networks[i])) == 0)
            return true;
    }
    return false;
}

int file_system_find(const char *path, struct file_system *found)
{
    struct statfs status;
    uint32_t type;

    *found = (struct file_system){0};
    if (statfs(path, &status) != 0)
        return -1;
    type = (uint32_t)status.f_type;
    for (size_t i = 0; i < ARRAY_LEN(networks); i++) {
        if (type == networks[i].type) {
            snprintf(found->name, sizeof(found->name), "%s", networks[i].name);
            found->is_network = true;
            return 0;
        }
    }
    if (!find_mount_type(path, found->name, sizeof(found->name)))
        snprintf(found->name, sizeof(found->name), "type 0x%" PRIx32, type);
    found->is_network = is_network_fuse(found->name);
    return 0;
}
