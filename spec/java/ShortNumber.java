/** The short numbers of SPEC.md. */
public final class ShortNumber {
    public static final long MAX = 999_999_999_999_999L;

    private static final String[] DAMM = {
        "0317598642", "7092154863", "4206871359", "1750983426", "6123045978",
        "3674209581", "5869720134", "8945362017", "9438617205", "2581436790"
    };

    private ShortNumber() {}

    private static int left(long n) {
        int row = 0;
        for (char digit : Long.toString(n).toCharArray()) row = DAMM[row].charAt(digit - '0') - '0';
        return row;
    }

    /** Reads a number as people type it, without looking at a check digit. */
    public static long parse(String text) {
        long n = 0;
        int digits = 0;
        boolean gap = true; // none may come first
        for (char c : text.toCharArray()) {
            if (c >= '0' && c <= '9') {
                if (++digits > 15) throw bad("long", text, "it has more than 15 digits");
                n = 10 * n + (c - '0');
                if (n == 0) throw bad("zero", text, "it begins with 0");
                gap = false;
            } else if (gap || " -\u00a0\u2009\u202f\u2011".indexOf(c) < 0) {
                throw bad("form", text, "want digits, with single spaces or hyphens between them");
            } else {
                gap = true;
            }
        }
        if (gap) throw bad("form", text, "want digits at its end");
        return n;
    }

    private static GameID.Invalid bad(String code, String text, String message) {
        return new GameID.Invalid(code, GameID.quote(text) + " is not a number: " + message);
    }

    /** Whether the last digit of n is its check digit. */
    public static boolean isChecked(long n) {
        return n > 9 && left(n) == 0;
    }

    /** parse for numbers with a check digit. */
    public static long parseChecked(String text) {
        long n = parse(text);
        if (!isChecked(n)) throw new GameID.Invalid("mistyped", GameID.quote(text) + " is mistyped: its last digit does not fit the others");
        return n;
    }

    /** Returns n with its check digit at the end. */
    public static long withCheck(long n) {
        if (n < 1 || n > MAX / 10) throw new GameID.Invalid("range", "a number without its check digit is " + n + ", want 1 to " + MAX / 10);
        return 10 * n + left(n);
    }

    /** Returns the digits of n in groups of three. */
    public static String spaced(long n) {
        StringBuilder text = new StringBuilder(Long.toString(n));
        for (int at = text.length() - 3; at > 0; at -= 3) text.insert(at, ' ');
        return text.toString();
    }
}
