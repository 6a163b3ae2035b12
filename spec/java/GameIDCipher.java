import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/** Makes public IDs of one kind, and opens them. One thread at a time may use it. */
public final class GameIDCipher {
    private static final long HALF = (1L << 40) - 1;

    private final Cipher aes;
    private final byte[] kind;

    /** The key has 16, 24 or 32 bytes. */
    public GameIDCipher(byte[] key, String kind) {
        if (key.length != 16 && key.length != 24 && key.length != 32) throw new GameID.Invalid("key", "the key has " + key.length + " bytes, want 16, 24 or 32");
        if (kind.isEmpty()) throw new GameID.Invalid("kind", "the kind is empty: want the name of what the IDs name, such as \"player\"");
        this.kind = kind.getBytes(StandardCharsets.UTF_8);
        try {
            aes = Cipher.getInstance("AES/ECB/NoPadding"); // single blocks
            aes.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the public ID, 20 digits. */
    public String seal(GameID id) {
        byte[] bytes = id.toBytes();
        long a = half(bytes, 0), b = half(bytes, 5);
        for (int i = 0; i < 10; i++) {
            long c = a + round(i, b) & HALF;
            a = b;
            b = c;
        }
        return GameID.digits(whole(a, b));
    }

    /** Returns the ID that a public ID stands for. Look up whether it exists. */
    public GameID open(String text) {
        byte[] bytes = GameID.readDigits(text);
        long a = half(bytes, 0), b = half(bytes, 5);
        for (int i = 9; i >= 0; i--) {
            long c = b - round(i, a) & HALF;
            b = a;
            a = c;
        }
        if (((a << 24 | b >> 16) & GameID.MAX_SERVER) == 0) throw new GameID.Invalid("sealed", GameID.quote(text) + " was not made with this key for this kind");
        return GameID.fromBytes(whole(a, b));
    }

    private long round(int i, long half) {
        int zeros = Math.floorMod(10 - kind.length, 16);
        byte[] m = ByteBuffer.allocate(16 + kind.length + zeros + 6)
                .put(new byte[] {1, 2, 1, 0, 0, 2, 10, 40, 0, 0, 0, 80}).putInt(kind.length)
                .put(kind).put(new byte[zeros])
                .put((byte) i).put((byte) (half >> 32)).putInt((int) half).array();
        byte[] r = new byte[16];
        for (int at = 0; at < m.length; at += 16) {
            for (int k = 0; k < 16; k++) r[k] ^= m[at + k];
            r = aes.update(r); // in this mode a block tells nothing of the one before
        }
        return half(r, 7);
    }

    private static long half(byte[] bytes, int at) {
        long n = 0;
        for (int k = 0; k < 5; k++) n = n << 8 | bytes[at + k] & 0xff;
        return n;
    }

    private static byte[] whole(long a, long b) {
        return ByteBuffer.allocate(10).put((byte) (a >> 32)).putInt((int) a).put((byte) (b >> 32)).putInt((int) b).array();
    }
}
