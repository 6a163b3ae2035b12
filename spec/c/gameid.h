/* Reads and writes the IDs and numbers of SPEC.md, in C99 or C++. It makes no new IDs,
 * allocates nothing and keeps no state. It reads no public IDs: C has no AES. */
#ifndef GAMEID_H
#define GAMEID_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An ID: its 10 bytes, as in the database. It may be compared with memcmp. All
 * zeros is no ID. */
typedef struct {
    uint8_t bytes[10];
} gameid;

/* Why something is not valid. */
typedef enum {
    GAMEID_OK = 0,
    GAMEID_DIGIT,    /* not a hexadecimal digit */
    GAMEID_LENGTH,   /* not 20 digits, or not 10 bytes */
    GAMEID_SERVER,   /* the server is not 1 to 1048575 */
    GAMEID_TIME,     /* the milliseconds are not 0 to 2^44 - 1 */
    GAMEID_SEQUENCE, /* the sequence is not 0 to 65535 */
    GAMEID_FORM,     /* not a short number */
    GAMEID_ZERO,     /* a short number that begins with 0 */
    GAMEID_LONG,     /* a short number of more than 15 digits */
    GAMEID_MISTYPED, /* the check digit of a short number does not fit */
    GAMEID_RANGE     /* not a number that can get a check digit */
} gameid_error;

/* What is wrong, in words. */
const char *gameid_message(gameid_error error);

/* Read an ID. Texts need no 0 at their end. Upon an error *out is all zeros. */
gameid_error gameid_parse(const char *text, size_t length, gameid *out);
gameid_error gameid_from_bytes(const uint8_t *bytes, size_t length, gameid *out);
gameid_error gameid_from_fields(int64_t millis, int64_t server, int64_t sequence, gameid *out);

/* Take an ID apart. */
int64_t gameid_millis(const gameid *id); /* since 2025-01-01T00:00:00Z */
int64_t gameid_unix_millis(const gameid *id);
uint32_t gameid_server(const gameid *id);
uint16_t gameid_sequence(const gameid *id);

/* Write an ID, or its time, with a 0 at the end. */
void gameid_format(const gameid *id, char out[21]);
void gameid_format_time(const gameid *id, char out[25]);

/* -1, 0 or 1. */
int gameid_compare(const gameid *a, const gameid *b);

/* Short numbers. Texts are UTF-8. Upon an error *out is 0. */
gameid_error gameid_parse_number(const char *text, size_t length, int64_t *out);
gameid_error gameid_parse_checked(const char *text, size_t length, int64_t *out);
gameid_error gameid_with_check(int64_t n, int64_t *out);
int gameid_is_checked(int64_t n);

/* Writes the digits of a number, 1 to 999999999999999, in groups of three. */
void gameid_format_spaced(int64_t n, char out[20]);

#ifdef __cplusplus
}
#endif

#endif
