import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/** Answers the questions of the tests, a line each. See ../languages_test.go. */
final class Answer {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
    private static final Map<String, GameIDCipher> ciphers = new HashMap<>();

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }

    private static String text(String hex) {
        return new String(bytes(hex), StandardCharsets.UTF_8);
    }

    private static GameIDCipher cipher(String key, String kind) {
        return ciphers.computeIfAbsent(key + " " + kind, k -> new GameIDCipher(bytes(key), text(kind)));
    }

    private static String show(GameID id) {
        return String.join("\t", "" + id.millis(), "" + id.server(), "" + id.sequence(), HexFormat.of().formatHex(id.toBytes()), "" + id, TIME.format(id.time()));
    }

    private static String answer(String[] q) {
        switch (q[0]) {
            case "text": return show(GameID.parse(text(q[1])));
            case "bytes": return show(GameID.fromBytes(bytes(q[1])));
            case "fields": return show(new GameID(Long.parseLong(q[1]), Long.parseLong(q[2]), Long.parseLong(q[3])));
            case "compare": return "" + Integer.signum(GameID.parse(q[1]).compareTo(GameID.parse(q[2])));
            case "seal": return cipher(q[1], q[2]).seal(GameID.parse(text(q[3])));
            case "open": return "" + cipher(q[1], q[2]).open(text(q[3]));
            case "number":
                long n = ShortNumber.parse(text(q[1]));
                return n + "\t" + ShortNumber.spaced(n) + "\t" + (ShortNumber.isChecked(n) ? 1 : 0);
            case "checked": return "" + ShortNumber.parseChecked(text(q[1]));
            case "withcheck": return "" + ShortNumber.withCheck(Long.parseLong(q[1]));
            default: throw new IllegalStateException(q[0]);
        }
    }

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            String answer;
            try {
                answer = "ok\t" + answer(line.split("\t", -1));
            } catch (GameID.Invalid e) {
                answer = "error\t" + e.code + "\t" + e.getMessage();
            }
            out.write(answer + "\n");
        }
        out.flush();
    }
}
