/* Answers the questions of the tests, a line each. See ../languages_test.go. */
#include "gameid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"ok", "digit", "length", "server", "time", "sequence", "form", "zero", "long", "mistyped", "range"};

static void fail(gameid_error error)
{
    printf("error\t%s\t%s\n", names[error], gameid_message(error));
}

static void show(gameid_error error, const gameid *id)
{
    char text[21], time[25];
    int i;
    if (error != GAMEID_OK) {
        fail(error);
        return;
    }
    gameid_format(id, text);
    gameid_format_time(id, time);
    printf("ok\t%" PRId64 "\t%" PRIu32 "\t%u\t", gameid_millis(id), gameid_server(id), (unsigned)gameid_sequence(id));
    for (i = 0; i < 10; i++) printf("%02x", id->bytes[i]);
    printf("\t%s\t%s\n", text, time);
}

static void show_number(gameid_error error, int64_t n)
{
    if (error != GAMEID_OK) {
        fail(error);
    } else {
        printf("ok\t%" PRId64 "\n", n);
    }
}

/* A copy that is exactly as long as what it holds, so that a tool that watches
 * memory sees who reads beyond. */
static char *unhex(const char *hex, size_t *length)
{
    size_t i;
    char *bytes;
    *length = strlen(hex) / 2;
    bytes = malloc(*length + (*length == 0));
    if (bytes == NULL) exit(1);
    for (i = 0; i < *length; i++) {
        unsigned byte;
        sscanf(hex + 2 * i, "%2x", &byte);
        bytes[i] = (char)byte;
    }
    return bytes;
}

int main(void)
{
    static char line[1 << 16];
    while (fgets(line, sizeof line, stdin)) {
        char *fields[4] = {line, "", "", ""};
        char *at = line, *given;
        size_t length;
        gameid id, other;
        int64_t n;
        int i;
        line[strcspn(line, "\n")] = 0;
        for (i = 1; i < 4 && (at = strchr(at, '\t')) != NULL; i++) {
            *at++ = 0;
            fields[i] = at;
        }
        given = unhex(strcmp(fields[0], "text") == 0 || strcmp(fields[0], "bytes") == 0 || strcmp(fields[0], "number") == 0 || strcmp(fields[0], "checked") == 0 ? fields[1] : "", &length);
        if (strcmp(fields[0], "text") == 0) {
            show(gameid_parse(given, length, &id), &id);
        } else if (strcmp(fields[0], "bytes") == 0) {
            show(gameid_from_bytes((const uint8_t *)given, length, &id), &id);
        } else if (strcmp(fields[0], "fields") == 0) {
            show(gameid_from_fields(strtoll(fields[1], NULL, 10), strtoll(fields[2], NULL, 10), strtoll(fields[3], NULL, 10), &id), &id);
        } else if (strcmp(fields[0], "compare") == 0) {
            gameid_parse(fields[1], strlen(fields[1]), &id);
            gameid_parse(fields[2], strlen(fields[2]), &other);
            printf("ok\t%d\n", gameid_compare(&id, &other));
        } else if (strcmp(fields[0], "number") == 0) {
            gameid_error error = gameid_parse_number(given, length, &n);
            char spaced[20];
            gameid_format_spaced(n, spaced);
            if (error != GAMEID_OK) {
                fail(error);
            } else {
                printf("ok\t%" PRId64 "\t%s\t%d\n", n, spaced, gameid_is_checked(n));
            }
        } else if (strcmp(fields[0], "checked") == 0) {
            gameid_error error = gameid_parse_checked(given, length, &n);
            show_number(error, n);
        } else if (strcmp(fields[0], "withcheck") == 0) {
            gameid_error error = gameid_with_check(strtoll(fields[1], NULL, 10), &n);
            show_number(error, n);
        } else {
            puts("unsupported");
        }
        free(given);
    }
    return 0;
}
