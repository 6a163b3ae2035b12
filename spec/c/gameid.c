#include "gameid.h"

#include <string.h>

#define EPOCH_MILLIS INT64_C(1735689600000) /* 2025-01-01T00:00:00Z in Unix time */
#define MAX_MILLIS INT64_C(17592186044415)
#define MAX_SERVER 1048575
#define MAX_NUMBER INT64_C(999999999999999)

const char *gameid_message(gameid_error error)
{
    switch (error) {
    case GAMEID_OK: return "valid";
    case GAMEID_DIGIT: return "not an ID: want 20 hexadecimal digits and nothing else";
    case GAMEID_LENGTH: return "not an ID: want 20 hexadecimal digits, or 10 bytes";
    case GAMEID_SERVER: return "not an ID: its server is not 1 to 1048575";
    case GAMEID_TIME: return "not an ID: its milliseconds are not 0 to 17592186044415";
    case GAMEID_SEQUENCE: return "not an ID: its sequence is not 0 to 65535";
    case GAMEID_FORM: return "not a number: want digits, with single spaces or hyphens between them";
    case GAMEID_ZERO: return "not a number: it begins with 0";
    case GAMEID_LONG: return "not a number: it has more than 15 digits";
    case GAMEID_MISTYPED: return "mistyped: the last digit does not fit the others";
    case GAMEID_RANGE: return "want a number from 1 to 99999999999999 for a check digit";
    }
    return "unknown error";
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

gameid_error gameid_parse(const char *text, size_t length, gameid *out)
{
    uint8_t bytes[10] = {0};
    size_t i;
    memset(out, 0, sizeof *out);
    for (i = 0; i < length && i < 20; i++) {
        int v = hex_value(text[i]);
        if (v < 0) return GAMEID_DIGIT;
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | v);
    }
    if (length != 20) return GAMEID_LENGTH;
    return gameid_from_bytes(bytes, sizeof bytes, out);
}

gameid_error gameid_from_bytes(const uint8_t *bytes, size_t length, gameid *out)
{
    gameid id;
    memset(out, 0, sizeof *out);
    if (length != sizeof id.bytes) return GAMEID_LENGTH;
    memcpy(id.bytes, bytes, sizeof id.bytes);
    if (gameid_server(&id) == 0) return GAMEID_SERVER;
    *out = id;
    return GAMEID_OK;
}

gameid_error gameid_from_fields(int64_t millis, int64_t server, int64_t sequence, gameid *out)
{
    uint64_t high;
    int i;
    memset(out, 0, sizeof *out);
    if (millis < 0 || millis > MAX_MILLIS) return GAMEID_TIME;
    if (server < 1 || server > MAX_SERVER) return GAMEID_SERVER;
    if (sequence < 0 || sequence > 65535) return GAMEID_SEQUENCE;
    high = (uint64_t)millis << 20 | (uint64_t)server;
    for (i = 0; i < 8; i++) out->bytes[i] = (uint8_t)(high >> (56 - 8 * i));
    out->bytes[8] = (uint8_t)(sequence >> 8);
    out->bytes[9] = (uint8_t)sequence;
    return GAMEID_OK;
}

int64_t gameid_millis(const gameid *id)
{
    int64_t millis = 0;
    int i;
    for (i = 0; i < 5; i++) millis = millis << 8 | id->bytes[i];
    return millis << 4 | id->bytes[5] >> 4;
}

int64_t gameid_unix_millis(const gameid *id)
{
    return EPOCH_MILLIS + gameid_millis(id);
}

uint32_t gameid_server(const gameid *id)
{
    return (uint32_t)(id->bytes[5] & 15) << 16 | (uint32_t)id->bytes[6] << 8 | id->bytes[7];
}

uint16_t gameid_sequence(const gameid *id)
{
    return (uint16_t)(id->bytes[8] << 8 | id->bytes[9]);
}

void gameid_format(const gameid *id, char out[21])
{
    int i;
    for (i = 0; i < 20; i++) out[i] = "0123456789abcdef"[id->bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
    out[20] = 0;
}

static char *put(char *out, int64_t value, int digits)
{
    int i;
    for (i = digits - 1; i >= 0; i--, value /= 10) out[i] = (char)('0' + value % 10);
    return out + digits;
}

/* Without gmtime, which is not the same everywhere after 2038. */
void gameid_format_time(const gameid *id, char out[25])
{
    static const int months[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t millis = gameid_millis(id), day = millis / 86400000, in_day = millis % 86400000;
    int year = 2025, month = 0;
    for (;; year++) {
        int days = 365 + ((year % 4 == 0 && year % 100 != 0) || year % 400 == 0);
        if (day < days) break;
        day -= days;
    }
    for (;; month++) {
        int days = months[month] + (month == 1 && ((year % 4 == 0 && year % 100 != 0) || year % 400 == 0));
        if (day < days) break;
        day -= days;
    }
    out = put(out, year, 4);
    *out++ = '-';
    out = put(out, month + 1, 2);
    *out++ = '-';
    out = put(out, day + 1, 2);
    *out++ = 'T';
    out = put(out, in_day / 3600000, 2);
    *out++ = ':';
    out = put(out, in_day / 60000 % 60, 2);
    *out++ = ':';
    out = put(out, in_day / 1000 % 60, 2);
    *out++ = '.';
    out = put(out, in_day % 1000, 3);
    *out++ = 'Z';
    *out = 0;
}

int gameid_compare(const gameid *a, const gameid *b)
{
    int order = memcmp(a->bytes, b->bytes, sizeof a->bytes);
    return (order > 0) - (order < 0);
}

static int left(int64_t n)
{
    static const char damm[10][11] = {
        "0317598642", "7092154863", "4206871359", "1750983426", "6123045978",
        "3674209581", "5869720134", "8945362017", "9438617205", "2581436790"};
    int64_t unit = 1;
    int row = 0;
    while (n / unit >= 10) unit *= 10;
    for (; unit > 0; unit /= 10) row = damm[row][n / unit % 10] - '0';
    return row;
}

/* How many bytes the gap at the begin of text has, or 0. */
static size_t gap_length(const char *text, size_t length)
{
    static const char *const gaps[] = {" ", "-", "\xc2\xa0", "\xe2\x80\x89", "\xe2\x80\xaf", "\xe2\x80\x91"};
    size_t i;
    for (i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        size_t n = strlen(gaps[i]);
        if (n <= length && memcmp(text, gaps[i], n) == 0) return n;
    }
    return 0;
}

gameid_error gameid_parse_number(const char *text, size_t length, int64_t *out)
{
    int64_t n = 0;
    size_t at = 0;
    int digits = 0, gap = 1; /* none may come first */
    *out = 0;
    while (at < length) {
        if (text[at] >= '0' && text[at] <= '9') {
            if (++digits > 15) return GAMEID_LONG;
            n = 10 * n + (text[at++] - '0');
            if (n == 0) return GAMEID_ZERO;
            gap = 0;
        } else {
            size_t width = gap ? 0 : gap_length(text + at, length - at);
            if (width == 0) return GAMEID_FORM;
            at += width;
            gap = 1;
        }
    }
    if (gap) return GAMEID_FORM;
    *out = n;
    return GAMEID_OK;
}

gameid_error gameid_parse_checked(const char *text, size_t length, int64_t *out)
{
    gameid_error error = gameid_parse_number(text, length, out);
    if (error == GAMEID_OK && !gameid_is_checked(*out)) {
        *out = 0;
        return GAMEID_MISTYPED;
    }
    return error;
}

gameid_error gameid_with_check(int64_t n, int64_t *out)
{
    *out = 0;
    if (n < 1 || n > MAX_NUMBER / 10) return GAMEID_RANGE;
    *out = 10 * n + left(n);
    return GAMEID_OK;
}

int gameid_is_checked(int64_t n)
{
    return n > 9 && left(n) == 0;
}

void gameid_format_spaced(int64_t n, char out[20])
{
    char digits[20];
    int count = 0, i;
    for (; n > 0 && count < 15; n /= 10) digits[count++] = (char)('0' + n % 10);
    for (i = count - 1; i >= 0; i--) {
        *out++ = digits[i];
        if (i > 0 && i % 3 == 0) *out++ = ' ';
    }
    *out = 0;
}
