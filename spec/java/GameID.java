import java.time.Instant;

/**
 * An ID of SPEC.md, read and written. Java 16 and later. It makes no new IDs.
 *
 * @param millis   milliseconds since 2025-01-01T00:00:00Z
 * @param server   the server that made it, 1 to 1048575
 * @param sequence which of the IDs of its server and millisecond it is
 */
public record GameID(long millis, long server, long sequence) implements Comparable<GameID> {
    public static final long MAX_MILLIS = (1L << 44) - 1;
    public static final long MAX_SERVER = (1 << 20) - 1;
    private static final Instant EPOCH = Instant.parse("2025-01-01T00:00:00Z");

    /** Why something is not valid. The code is the name that SPEC.md gives it. */
    public static final class Invalid extends IllegalArgumentException {
        public final String code;

        Invalid(String code, String message) {
            super(message);
            this.code = code;
        }
    }

    public GameID {
        if (millis < 0 || millis > MAX_MILLIS) throw new Invalid("time", "millis is " + millis + ", want 0 to " + MAX_MILLIS);
        if (server < 1 || server > MAX_SERVER) throw new Invalid("server", "server is " + server + ", want 1 to " + MAX_SERVER);
        if (sequence < 0 || sequence > 0xffff) throw new Invalid("sequence", "sequence is " + sequence + ", want 0 to 65535");
    }

    /** Reads 20 hexadecimal digits. */
    public static GameID parse(String text) {
        return fromBytes(readDigits(text));
    }

    /** Reads 10 bytes. */
    public static GameID fromBytes(byte[] bytes) {
        if (bytes.length != 10) throw new Invalid("length", "an ID has 10 bytes, not " + bytes.length);
        long high = 0;
        for (int i = 0; i < 8; i++) high = high << 8 | bytes[i] & 0xff;
        return new GameID(high >>> 20, high & MAX_SERVER, (bytes[8] & 0xff) << 8 | bytes[9] & 0xff);
    }

    /** The time in the ID, to the millisecond. */
    public Instant time() {
        return EPOCH.plusMillis(millis);
    }

    public byte[] toBytes() {
        byte[] bytes = new byte[10];
        long high = millis << 20 | server;
        for (int i = 0; i < 8; i++) bytes[i] = (byte) (high >>> 56 - 8 * i);
        bytes[8] = (byte) (sequence >> 8);
        bytes[9] = (byte) sequence;
        return bytes;
    }

    /** The 20 digits. */
    @Override
    public String toString() {
        return digits(toBytes());
    }

    @Override
    public int compareTo(GameID other) {
        int order = Long.compare(millis, other.millis);
        if (order == 0) order = Long.compare(server, other.server);
        return order != 0 ? order : Long.compare(sequence, other.sequence);
    }

    static String digits(byte[] bytes) {
        StringBuilder text = new StringBuilder(20);
        for (byte b : bytes) text.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
        return text.toString();
    }

    static byte[] readDigits(String text) {
        byte[] bytes = new byte[10];
        for (int i = 0; i < text.length() && i < 20; i++) {
            char c = text.charAt(i);
            int digit = c < 128 ? Character.digit(c, 16) : -1;
            if (digit < 0) throw new Invalid("digit", quote(text) + " is not an ID: character " + (i + 1) + " is not a hexadecimal digit");
            bytes[i / 2] = (byte) (bytes[i / 2] << 4 | digit);
        }
        if (text.length() != 20) throw new Invalid("length", quote(text) + " is not an ID: it has " + text.length() + " characters, want 20");
        return bytes;
    }

    /** The first 40 characters of what a stranger may have written. */
    static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length() && i < 40; i++) {
            char c = text.charAt(i);
            if (c >= ' ' && c <= '~') quoted.append(c);
            else quoted.append(String.format("\\u%04x", (int) c));
        }
        return quoted.append(text.length() > 40 ? "\"..." : "\"").toString();
    }
}
