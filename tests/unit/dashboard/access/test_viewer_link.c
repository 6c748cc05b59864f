/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/access/viewer_link.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/folder.h"

static struct viewer_link *must_open(const char *store, const char *other)
{
    struct err err = {0};
    struct viewer_link *link = viewer_link_open(store, other, &err);

    if (link == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(strspn(viewer_link_text(link), "0123456789abcdef"), 64);
    assert_int_equal(strlen(viewer_link_text(link)), 64);
    return link;
}

/* The caller's to free. */
static char *path_in(const char *folder)
{
    return mem_printf("%s/viewer-link-%u", folder, (unsigned int)geteuid());
}

static void test_link__stays_the_same(void **state)
{
    struct viewer_link *one = must_open(*state, NULL);
    struct viewer_link *other = must_open(*state, NULL);
    char *path = path_in(*state);
    struct stat file;

    assert_string_equal(viewer_link_text(one), viewer_link_text(other));
    assert_false(viewer_link_refresh(one));
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0600);
    free(path);
    viewer_link_close(one);
    viewer_link_close(other);
}

enum { AT_ONCE = 8 };

/* Opens it when nobody can write to `start` any more, and sends it. */
static void open_in_child(const char *store, const int start[2], int to)
{
    struct viewer_link *link;
    char none;

    if (fork() != 0)
        return;
    close(start[1]);
    if (read(start[0], &none, 1) == 0) {
        link = viewer_link_open(store, NULL, NULL);
        if (link != NULL && write(to, viewer_link_text(link), 64) == 64)
            _exit(0);
    }
    _exit(1);
}

static void test_link__is_that_of_the_first_of_many(void **state)
{
    char texts[AT_ONCE][64];
    int start[2], results[2], status;

    assert_int_equal(pipe(start), 0);
    assert_int_equal(pipe(results), 0);
    for (int i = 0; i < AT_ONCE; i++)
        open_in_child(*state, start, results[1]);
    close(start[0]);
    close(start[1]);
    for (int i = 0; i < AT_ONCE; i++) {
        assert_int_not_equal(wait(&status), -1);
        assert_int_equal(status, 0);
    }
    /* It is less than a pipe takes at once. */
    assert_int_equal(read(results[0], texts, sizeof(texts)), sizeof(texts));
    for (int i = 1; i < AT_ONCE; i++)
        assert_memory_equal(texts[0], texts[i], 64);
    close(results[0]);
    close(results[1]);
}

static void test_link__is_withdrawn_by_another(void **state)
{
    struct viewer_link *one = must_open(*state, NULL);
    struct viewer_link *other = must_open(*state, NULL);
    char *old = mem_copy_string(viewer_link_text(one));

    assert_int_equal(viewer_link_replace(other, NULL), 0);
    assert_string_not_equal(viewer_link_text(other), old);
    assert_true(viewer_link_refresh(one));
    assert_string_equal(viewer_link_text(one), viewer_link_text(other));
    assert_false(viewer_link_refresh(one));
    assert_false(viewer_link_refresh(other));
    free(old);
    viewer_link_close(one);
    viewer_link_close(other);
}

static void test_link__is_withdrawn_where_its_file_is_removed(void **state)
{
    struct viewer_link *link = must_open(*state, NULL), *other;
    char *old = mem_copy_string(viewer_link_text(link));
    char *path = path_in(*state);

    assert_int_equal(unlink(path), 0);
    assert_true(viewer_link_refresh(link));
    assert_string_not_equal(viewer_link_text(link), old);
    assert_false(viewer_link_refresh(link));
    other = must_open(*state, NULL);
    assert_string_equal(viewer_link_text(link), viewer_link_text(other));
    free(path);
    free(old);
    viewer_link_close(link);
    viewer_link_close(other);
}

/* What others could have read, or have put there, is no link of ours. */
static void test_link__that_is_not_private_is_replaced(void **state)
{
    char *path = path_in(*state), *elsewhere = fs_join(*state, "elsewhere");
    char *old;
    struct viewer_link *link = must_open(*state, NULL);

    old = mem_copy_string(viewer_link_text(link));
    assert_int_equal(chmod(path, 0640), 0);
    assert_true(viewer_link_refresh(link));
    assert_string_not_equal(viewer_link_text(link), old);
    free(old);
    old = mem_copy_string(viewer_link_text(link));
    assert_int_equal(rename(path, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    assert_true(viewer_link_refresh(link));
    assert_string_not_equal(viewer_link_text(link), old);
    viewer_link_close(link);
    link = must_open(*state, NULL);
    assert_string_not_equal(viewer_link_text(link), old);
    free(old);
    free(path);
    free(elsewhere);
    viewer_link_close(link);
}

static void test_link__is_not_any_text(void **state)
{
    static const char *const texts[] = {"", "\n", "0123\n",
                                        "gggggggggggggggggggggggggggggggg"
                                        "gggggggggggggggggggggggggggggggg\n",
                                        "0123456789abcdef0123456789abcdef"
                                        "0123456789abcdef0123456789abcdef"};
    char *name = mem_printf("viewer-link-%u", (unsigned int)geteuid());

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct viewer_link *link;

        put(*state, "", name, texts[i]);
        link = must_open(*state, NULL);
        assert_true(strncmp(texts[i], viewer_link_text(link), 64) != 0);
        viewer_link_close(link);
    }
    free(name);
}

static void test_link__is_elsewhere_where_the_store_cannot_keep_it(void **state)
{
    char *store = fs_join(*state, "none");
    char *path = path_in(*state);
    struct viewer_link *link = must_open(store, *state);
    struct err err = {0};

    assert_int_equal(access(path, F_OK), 0);
    assert_false(viewer_link_refresh(link));
    viewer_link_close(link);
    assert_null(viewer_link_open(store, NULL, &err));
    assert_non_null(strstr(err.text, store));
    free(path);
    free(store);
}

/* Once a dashboard had to take the other folder, others find its link there,
 * whatever the store can keep by now. */
static void test_link__is_found_where_a_dashboard_keeps_it(void **state)
{
    char *store = fs_join(*state, "store"), *other = fs_join(*state, "other");
    struct viewer_link *link, *found;

    assert_int_equal(mkdir(other, 0700), 0);
    link = must_open(store, other);
    assert_false(viewer_link_is_in_store(link));
    assert_int_equal(mkdir(store, 0700), 0);
    found = viewer_link_find(store, other, NULL);
    assert_non_null(found);
    assert_string_equal(viewer_link_text(found), viewer_link_text(link));
    assert_int_equal(viewer_link_replace(found, NULL), 0);
    assert_true(viewer_link_refresh(link));
    viewer_link_close(link);
    viewer_link_close(found);

    assert_int_equal(fs_remove_tree(other, NULL), 0);
    link = must_open(store, other);
    assert_true(viewer_link_is_in_store(link));
    found = viewer_link_find(store, other, NULL);
    assert_non_null(found);
    assert_string_equal(viewer_link_text(found), viewer_link_text(link));
    viewer_link_close(link);
    viewer_link_close(found);
    free(store);
    free(other);
}

static void test_link__moves_with_its_folder(void **state)
{
    char *store = fs_join(*state, "none"), *other = fs_join(*state, "other");
    struct viewer_link *link = must_open(store, *state);
    char *old = mem_copy_string(viewer_link_text(link));
    char *path = path_in(*state);

    assert_int_equal(mkdir(other, 0700), 0);
    viewer_link_move(link, other);
    assert_int_equal(unlink(path), 0);
    assert_false(viewer_link_refresh(link));
    assert_string_equal(viewer_link_text(link), old);
    viewer_link_close(link);
    free(old);
    free(path);
    free(store);

    /* That of a store stays there. */
    link = must_open(*state, other);
    viewer_link_move(link, "/nowhere");
    assert_false(viewer_link_refresh(link));
    viewer_link_close(link);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_link__stays_the_same),
        FOLDER_TEST(test_link__is_that_of_the_first_of_many),
        FOLDER_TEST(test_link__is_withdrawn_by_another),
        FOLDER_TEST(test_link__is_withdrawn_where_its_file_is_removed),
        FOLDER_TEST(test_link__that_is_not_private_is_replaced),
        FOLDER_TEST(test_link__is_not_any_text),
        FOLDER_TEST(test_link__is_elsewhere_where_the_store_cannot_keep_it),
        FOLDER_TEST(test_link__is_found_where_a_dashboard_keeps_it),
        FOLDER_TEST(test_link__moves_with_its_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
