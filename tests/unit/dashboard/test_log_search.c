/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: pread fstat lseek */
#include "dashboard/log_search.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "tests/unit/folder.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

/* ---- what the linker puts in place ---- */

static bool fstat_fails, has_no_holes;
static int read_error; /* once; -1: as if the file had become shorter */

int __real_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status)
{
    errno = EIO;
    return fstat_fails ? -1 : __real_fstat(fd, status);
}

off_t __real_lseek(int fd, off_t offset, int whence);
off_t __wrap_lseek(int fd, off_t offset, int whence);
off_t __wrap_lseek(int fd, off_t offset, int whence)
{
    errno = EINVAL;
    return has_no_holes ? -1 : __real_lseek(fd, offset, whence);
}

ssize_t __real_pread(int fd, void *bytes, size_t length, off_t from);
ssize_t __wrap_pread(int fd, void *bytes, size_t length, off_t from);
ssize_t __wrap_pread(int fd, void *bytes, size_t length, off_t from)
{
    int error = read_error;

    if (error == 0)
        return __real_pread(fd, bytes, length, from);
    read_error = 0;
    errno = error;
    return error < 0 ? 0 : -1;
}

/* ---- a log, and what is found in it ---- */

struct fixture {
    char *path;
    int fd;
    struct log_search search;
    struct log_place place;
    struct buf found; /* "3@10 text[start,end]\n" of each line */
    int left;         /* lines that are wanted */
};

static int on_found(void *user, const struct log_line *line)
{
    struct fixture *fixture = user;

    buf_printf(&fixture->found, "%" PRId64 "@%" PRId64 " %.*s[%zu,%zu]\n",
               line->line, line->byte,
               (int)(line->length < 40 ? line->length : 40), line->text,
               line->match.start, line->match.end);
    return --fixture->left == 0;
}

static void set_up(struct fixture *fixture, const char *folder,
                   const char *pattern, bool is_regex)
{
    const struct log_pattern_options options = {.is_regex = is_regex};
    struct err err = {0};

    *fixture = (struct fixture){.place = LOG_PLACE_FIRST};
    fixture->path = fs_join(folder, "log");
    fixture->fd = open(fixture->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fixture->fd >= 0);
    fixture->search = (struct log_search){
        .pattern = log_pattern_create(pattern, &options, &err),
        .bytes_left = LOG_SEARCH_MAX_BYTES,
        .deadline_ms = INT64_MAX,
        .found = on_found,
        .user = fixture};
    assert_non_null(fixture->search.pattern);
}

static void tear_down(struct fixture *fixture)
{
    log_pattern_destroy(fixture->search.pattern);
    buf_clear(&fixture->found);
    free(fixture->path);
    close(fixture->fd);
}

static void put_at(const struct fixture *fixture, int64_t byte,
                   const char *text)
{
    size_t length = strlen(text);

    assert_int_equal(pwrite(fixture->fd, text, length, (off_t)byte), length);
}

static int search(struct fixture *fixture)
{
    struct err err = {0};
    int result =
        log_search_file(&fixture->search, fixture->fd, &fixture->place, &err);

    assert_int_equal(err.text[0] != '\0', result < 0);
    return result;
}

/* From the beginning, with so many stops that a bound or the wanted count asks
 * for, and with what is found. */
static void must_find(struct fixture *fixture, int stops, const char *found)
{
    int64_t bytes_left = fixture->search.bytes_left;
    int left = fixture->left;

    fixture->place = LOG_PLACE_FIRST;
    buf_truncate(&fixture->found, 0);
    while (search(fixture) == 0) {
        stops--;
        fixture->search.bytes_left = bytes_left;
        fixture->left = left;
    }
    assert_string_equal(buf_text(&fixture->found), found);
    assert_int_equal(stops, 0);
}

/* ---- lines ---- */

static void test_log_search__finds_lines(void **state)
{
    static const struct {
        const char *log, *pattern;
        bool is_regex;
        const char *found;
    } cases[] = {
        {"", "a", false, ""},
        {"a", "a", false, "1@0 a[0,1]\n"},
        {"a\n", "a", false, "1@0 a[0,1]\n"},
        {"\n\nxa a\nb\r\nba\r\n", "a", false, "3@2 xa a[1,2]\n5@10 ba[1,2]\n"},
        {"\n\nxa a\nb\r\nba\r\n", "a$", true, "3@2 xa a[3,4]\n5@10 ba[1,2]\n"},
        {"b\nc", "a", false, ""},
        {"b\nc", "[ac]", true, "2@2 c[0,1]\n"},
        {"a\nb\n", "b\\s*$|a.b", true, "2@2 b[0,1]\n"},
        {"x\x1b[31mre\x1b[0md\nred\n", "red", false,
         "1@0 xred[1,4]\n2@14 red[0,3]\n"},
        {"x\xc2\x9b"
         "31mred\nred\n",
         "xred", false, "1@0 xred[0,4]\n"},
        {"10%\r20%\r\n", "10%", false, "1@0 10%\r20%[0,3]\n"},
        {"caf\xc3\xa9 \xff\xfe z\n", "\xc3\xa9", false,
         "1@0 caf\xc3\xa9 \xff\xfe z[3,5]\n"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture fixture;

        set_up(&fixture, *state, cases[i].pattern, cases[i].is_regex);
        put_at(&fixture, 0, cases[i].log);
        must_find(&fixture, 0, cases[i].found);
        assert_int_equal(fixture.place.byte, strlen(cases[i].log));
        tear_down(&fixture);
    }
}

static void test_log_search__stops_and_goes_on(void **state)
{
    static const char log[] = "a1\nb\na2\n\x1b[m\na3\na4 a5\nb\na6";
    static const char found[] = "1@0 a1[0,1]\n3@5 a2[0,1]\n5@12 a3[0,1]\n"
                                "6@15 a4 a5[0,1]\n8@23 a6[0,1]\n";
    struct fixture fixture;

    for (int is_regex = 0; is_regex < 2; is_regex++) {
        set_up(&fixture, *state, "a", is_regex);
        put_at(&fixture, 0, log);
        must_find(&fixture, 0, found);
        fixture.left = 1;
        must_find(&fixture, 5, found);
        fixture.left = 2;
        must_find(&fixture, 2, found);
        fixture.left = 5;
        must_find(&fixture, 1, found);
        /* Time is over: a line at a time, where lines are searched, or a block.
         */
        fixture.left = 0;
        fixture.search.deadline_ms = 0;
        must_find(&fixture, is_regex ? 7 : 5, found);
        tear_down(&fixture);
    }
}

/* A block at a time, whatever the bound. */
static void test_log_search__is_bounded_in_bytes(void **state)
{
    struct fixture fixture;
    char *line = mem_alloc(KIB);

    set_up(&fixture, *state, "needle", false);
    memset(line, 'x', KIB);
    line[KIB - 1] = '\0';
    for (int i = 0; i < 1024; i++) {
        line[KIB - 2] = '\n';
        put_at(&fixture, (int64_t)i * (KIB - 1), line);
    }
    put_at(&fixture, 700LL * (KIB - 1), "needle");
    fixture.search.bytes_left = 1;
    fixture.place = LOG_PLACE_FIRST;
    assert_int_equal(search(&fixture), 0);
    assert_true(fixture.place.byte > 200 * KIB);
    assert_true(fixture.place.byte <= 256 * KIB);
    assert_int_equal(fixture.place.byte, fixture.place.line_byte);
    assert_int_equal(fixture.place.byte % (KIB - 1), 0);
    assert_int_equal(fixture.place.line, fixture.place.byte / (KIB - 1) + 1);
    assert_true(log_search_is_over(&fixture.search));
    fixture.search.bytes_left = 1;
    while (search(&fixture) == 0)
        fixture.search.bytes_left = 1;
    assert_int_equal(fixture.place.line, 1025);
    assert_int_equal(strncmp(buf_text(&fixture.found), "701@716100 needle", 17),
                     0);
    assert_non_null(strstr(buf_text(&fixture.found), "[0,6]\n"));
    free(line);
    tear_down(&fixture);
}

static void test_log_search__keeps_to_a_part_of_a_log(void **state)
{
    static const struct {
        int64_t from, until;
        const char *found;
    } cases[] = {
        {0, 0, "1@0 a[0,1]\n2@2 a[0,1]\n3@4 a[0,1]\n"},
        {0, 4, "1@0 a[0,1]\n2@2 a[0,1]\n"},
        {1, 0, "2@2 a[0,1]\n3@4 a[0,1]\n"},
        {2, 4, "2@2 a[0,1]\n"},
        {2, 100, "2@2 a[0,1]\n3@4 a[0,1]\n"},
        {5, 0, ""},
    };
    struct fixture fixture;

    set_up(&fixture, *state, "a", false);
    put_at(&fixture, 0, "a\na\na\n");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        fixture.search.from = cases[i].from;
        fixture.search.until = cases[i].until;
        must_find(&fixture, 0, cases[i].found);
    }
    tear_down(&fixture);
}

/* ---- long lines ---- */

/* Wherever a text is in a line of several MiB, and once, whatever comes. */
static void test_log_search__finds_once_in_a_long_line(void **state)
{
    struct fixture fixture;
    char *long_line = mem_alloc(3 * MIB + 1);
    const size_t places[] = {0, MIB - 3, MIB, 2 * MIB - 1030, 3 * MIB - 6};

    memset(long_line, 'x', 3 * MIB);
    long_line[3 * MIB] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        for (int64_t bytes_left = 1; bytes_left < 10 * MIB;
             bytes_left *= 3000) {
            set_up(&fixture, *state, "needle", false);
            put_at(&fixture, 0, "first\n");
            put_at(&fixture, 6, long_line);
            put_at(&fixture, 6 + (int64_t)places[i], "needle");
            put_at(&fixture, 6 + 3 * MIB, "\nneedle\n");
            fixture.search.bytes_left = bytes_left;
            while (search(&fixture) == 0)
                fixture.search.bytes_left = bytes_left;
            assert_int_equal(strncmp(buf_text(&fixture.found), "2@6 ", 4), 0);
            assert_non_null(
                strstr(buf_text(&fixture.found), "]\n3@3145735 needle[0,6]\n"));
            assert_null(strstr(buf_text(&fixture.found) + 4, "2@6"));
            tear_down(&fixture);
        }
    }
    free(long_line);
}

static void test_log_search__goes_on_within_a_line_that_was_found(void **state)
{
    struct fixture fixture;
    char *part = mem_alloc(MIB + 1);

    memset(part, 'a', MIB);
    part[MIB] = '\0';
    set_up(&fixture, *state, "a", false);
    for (int64_t i = 0; i < 3; i++)
        put_at(&fixture, i * MIB, part);
    put_at(&fixture, 3 * MIB, "\na");
    fixture.left = 1;
    assert_int_equal(search(&fixture), 0);
    assert_true(fixture.place.is_found);
    assert_int_equal(fixture.place.line_byte, 0);
    assert_true(fixture.place.byte > 0);
    fixture.left = 1;
    assert_int_equal(search(&fixture), 0);
    assert_non_null(strstr(buf_text(&fixture.found), "\n2@3145729 a[0,1]\n"));
    assert_int_equal(search(&fixture), 1);
    free(part);
    tear_down(&fixture);
}

static void test_log_search__skips_holes(void **state)
{
    const int64_t far = INT64_C(1) << 40;
    struct fixture fixture;

    set_up(&fixture, *state, "needle", false);
    put_at(&fixture, 0, "one\nneed");
    put_at(&fixture, far, "le needle\nneedle\n");
    assert_int_equal(ftruncate(fixture.fd, (off_t)(2 * far)), 0);
    fixture.search.bytes_left = 10 * MIB;
    assert_int_equal(search(&fixture), 1);
    assert_true(fixture.search.bytes_left > 0);
    assert_int_equal(fixture.place.byte, 2 * far);
    assert_int_equal(strncmp(buf_text(&fixture.found), "2@4 ", 4), 0);
    assert_non_null(
        strstr(buf_text(&fixture.found), "]\n3@1099511627786 needle[0,6]\n"));
    tear_down(&fixture);
}

static void test_log_search__reads_holes_that_it_does_not_see(void **state)
{
    struct fixture fixture;

    set_up(&fixture, *state, "needle", false);
    put_at(&fixture, 0, "one\n");
    put_at(&fixture, 5 * MIB, "\nneedle");
    has_no_holes = true;
    must_find(&fixture, 0, "3@5242881 needle[0,6]\n");
    has_no_holes = false;
    must_find(&fixture, 0, "3@5242881 needle[0,6]\n");
    tear_down(&fixture);
}

/* ---- what changes or fails ---- */

static void test_log_search__goes_on_where_a_log_has_grown(void **state)
{
    struct fixture fixture;

    set_up(&fixture, *state, "a", false);
    put_at(&fixture, 0, "a\nxa");
    must_find(&fixture, 0, "1@0 a[0,1]\n2@2 xa[1,2]\n");
    put_at(&fixture, 4, "a\na\n");
    /* The rest of a line that was found, and one more. */
    buf_truncate(&fixture.found, 0);
    assert_int_equal(search(&fixture), 1);
    assert_string_equal(buf_text(&fixture.found), "3@6 a[0,1]\n");
    assert_int_equal(search(&fixture), 1);
    assert_int_equal(ftruncate(fixture.fd, 1), 0);
    assert_int_equal(search(&fixture), 1);
    tear_down(&fixture);
}

static void test_log_search__reads_what_it_can(void **state)
{
    static const struct {
        int error, result;
        const char *found;
    } cases[] = {{EINTR, 1, "1@0 a[0,1]\n"}, {-1, 1, ""}, {EIO, -1, ""}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture fixture;

        set_up(&fixture, *state, "a", false);
        put_at(&fixture, 0, "a\n");
        read_error = cases[i].error;
        assert_int_equal(search(&fixture), cases[i].result);
        assert_string_equal(buf_text(&fixture.found), cases[i].found);
        fstat_fails = true;
        assert_int_equal(search(&fixture), -1);
        fstat_fails = false;
        tear_down(&fixture);
    }
}

static void test_log_search__counts_lines_that_take_too_long(void **state)
{
    struct fixture fixture;

    set_up(&fixture, *state, "(a|aa)+$x|b", true);
    put_at(&fixture, 0,
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nb\n");
    must_find(&fixture, 0, "2@58 b[0,1]\n");
    assert_int_equal(fixture.search.undecided, 1);
    tear_down(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_log_search__finds_lines),
        FOLDER_TEST(test_log_search__stops_and_goes_on),
        FOLDER_TEST(test_log_search__is_bounded_in_bytes),
        FOLDER_TEST(test_log_search__keeps_to_a_part_of_a_log),
        FOLDER_TEST(test_log_search__finds_once_in_a_long_line),
        FOLDER_TEST(test_log_search__goes_on_within_a_line_that_was_found),
        FOLDER_TEST(test_log_search__skips_holes),
        FOLDER_TEST(test_log_search__reads_holes_that_it_does_not_see),
        FOLDER_TEST(test_log_search__goes_on_where_a_log_has_grown),
        FOLDER_TEST(test_log_search__reads_what_it_can),
        FOLDER_TEST(test_log_search__counts_lines_that_take_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
