// Reads and writes the IDs and numbers of SPEC.md. C# 7.2. It makes no new IDs.
using System;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;

/// <summary>Why something is not valid. Code is the name that SPEC.md gives it.</summary>
public sealed class GameIDException : FormatException
{
    public readonly string Code;

    public GameIDException(string code, string message) : base(message) { Code = code; }

    // The first 40 characters of what a stranger may have written.
    internal static string Quote(string text)
    {
        var quoted = new StringBuilder("\"");
        for (int i = 0; i < text.Length && i < 40; i++)
        {
            if (text[i] >= ' ' && text[i] <= '~') quoted.Append(text[i]);
            else quoted.AppendFormat("\\u{0:x4}", (int)text[i]);
        }
        return quoted.Append(text.Length > 40 ? "\"..." : "\"").ToString();
    }
}

/// <summary>An ID. The default value is no ID.</summary>
public readonly struct GameID : IComparable<GameID>, IEquatable<GameID>
{
    public const long MaxMillis = (1L << 44) - 1;
    public const int MaxServer = (1 << 20) - 1;

    static readonly DateTime Epoch = new DateTime(2025, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    readonly ulong high; // milliseconds and server

    /// <summary>Which of the IDs of its server and millisecond it is.</summary>
    public readonly ushort Sequence;

    GameID(ulong high, ushort sequence)
    {
        if ((high & MaxServer) == 0) throw new GameIDException("server", "not an ID: its server is 0");
        this.high = high;
        Sequence = sequence;
    }

    /// <summary>Puts an ID together.</summary>
    public static GameID FromFields(long millis, long server, long sequence)
    {
        if (millis < 0 || millis > MaxMillis) throw new GameIDException("time", "millis is " + millis + ", want 0 to " + MaxMillis);
        if (server < 1 || server > MaxServer) throw new GameIDException("server", "server is " + server + ", want 1 to " + MaxServer);
        if (sequence < 0 || sequence > 65535) throw new GameIDException("sequence", "sequence is " + sequence + ", want 0 to 65535");
        return new GameID((ulong)millis << 20 | (ulong)server, (ushort)sequence);
    }

    /// <summary>Reads 20 hexadecimal digits.</summary>
    public static GameID Parse(string text)
    {
        ReadDigits(text, out ulong high, out ushort low);
        if ((high & MaxServer) == 0) throw new GameIDException("server", GameIDException.Quote(text) + " is not an ID: its server is 0");
        return new GameID(high, low);
    }

    /// <summary>Reads 10 bytes.</summary>
    public static GameID FromBytes(byte[] bytes)
    {
        if (bytes.Length != 10) throw new GameIDException("length", "an ID has 10 bytes, not " + bytes.Length);
        ulong high = 0;
        for (int i = 0; i < 8; i++) high = high << 8 | bytes[i];
        return new GameID(high, (ushort)(bytes[8] << 8 | bytes[9]));
    }

    /// <summary>False for the default value only.</summary>
    public bool IsValid { get { return (high & MaxServer) != 0; } }

    /// <summary>Milliseconds since 2025-01-01T00:00:00Z.</summary>
    public long Millis { get { return (long)(high >> 20); } }

    /// <summary>The number of the server that made it.</summary>
    public int Server { get { return (int)(high & MaxServer); } }

    /// <summary>Its time in UTC, to the millisecond.</summary>
    public DateTime Time { get { return Epoch.AddTicks(Millis * TimeSpan.TicksPerMillisecond); } }

    public byte[] ToBytes()
    {
        if (!IsValid) throw new InvalidOperationException("the default GameID names nothing and cannot be written");
        var bytes = new byte[10];
        for (int i = 0; i < 8; i++) bytes[i] = (byte)(high >> (56 - 8 * i));
        bytes[8] = (byte)(Sequence >> 8);
        bytes[9] = (byte)Sequence;
        return bytes;
    }

    /// <summary>The 20 digits. For the default value, words that nothing reads as an ID.</summary>
    public override string ToString() { return IsValid ? Digits(high, Sequence) : "invalid gameid"; }

    public int CompareTo(GameID other)
    {
        int order = high.CompareTo(other.high);
        return order != 0 ? order : Sequence.CompareTo(other.Sequence);
    }

    public bool Equals(GameID other) { return high == other.high && Sequence == other.Sequence; }
    public override bool Equals(object other) { return other is GameID && Equals((GameID)other); }
    public override int GetHashCode() { return high.GetHashCode() * 31 + Sequence; }
    public static bool operator ==(GameID a, GameID b) { return a.Equals(b); }
    public static bool operator !=(GameID a, GameID b) { return !a.Equals(b); }
    public static bool operator <(GameID a, GameID b) { return a.CompareTo(b) < 0; }
    public static bool operator >(GameID a, GameID b) { return a.CompareTo(b) > 0; }

    internal static string Digits(ulong high, ushort low) { return high.ToString("x16") + low.ToString("x4"); }

    internal static void ReadDigits(string text, out ulong high, out ushort low)
    {
        high = 0;
        low = 0;
        for (int i = 0; i < text.Length && i < 20; i++)
        {
            char c = text[i];
            int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
            if (digit < 0) throw new GameIDException("digit", GameIDException.Quote(text) + " is not an ID: character " + (i + 1) + " is not a hexadecimal digit");
            if (i < 16) high = high << 4 | (uint)digit;
            else low = (ushort)(low << 4 | digit);
        }
        if (text.Length != 20) throw new GameIDException("length", GameIDException.Quote(text) + " is not an ID: it has " + text.Length + " characters, want 20");
    }

    // For GameIDCipher: the upper and the lower 40 bits.
    internal ulong Upper { get { return high >> 24; } }
    internal ulong Lower { get { return (high << 16 | Sequence) & GameIDCipher.Half; } }
}

/// <summary>Makes public IDs of one kind, and opens them. One thread at a time may use it.</summary>
public sealed class GameIDCipher : IDisposable
{
    internal const ulong Half = (1UL << 40) - 1;

    readonly ICryptoTransform aes;
    readonly byte[] kind;

    /// <summary>The key has 16, 24 or 32 bytes.</summary>
    public GameIDCipher(byte[] key, string kind)
    {
        if (key.Length != 16 && key.Length != 24 && key.Length != 32) throw new GameIDException("key", "the key has " + key.Length + " bytes, want 16, 24 or 32");
        if (kind.Length == 0) throw new GameIDException("kind", "the kind is empty: want the name of what the IDs name, such as \"player\"");
        this.kind = Encoding.UTF8.GetBytes(kind);
        using (var algorithm = Aes.Create())
        {
            algorithm.Mode = CipherMode.ECB; // single blocks
            algorithm.Padding = PaddingMode.None;
            algorithm.Key = key;
            aes = algorithm.CreateEncryptor();
        }
    }

    public void Dispose() { aes.Dispose(); }

    /// <summary>Returns the public ID, 20 digits.</summary>
    public string Seal(GameID id)
    {
        if (!id.IsValid) throw new InvalidOperationException("the default GameID names nothing and cannot be sealed");
        ulong a = id.Upper, b = id.Lower;
        for (int i = 0; i < 10; i++)
        {
            ulong c = (a + Round(i, b)) & Half;
            a = b;
            b = c;
        }
        return GameID.Digits(a << 24 | b >> 16, (ushort)b);
    }

    /// <summary>Returns the ID that a public ID stands for. Look up whether it exists.</summary>
    public GameID Open(string text)
    {
        GameID.ReadDigits(text, out ulong high, out ushort low);
        ulong a = high >> 24, b = (high << 16 | low) & Half;
        for (int i = 9; i >= 0; i--)
        {
            ulong c = (b - Round(i, a)) & Half;
            b = a;
            a = c;
        }
        high = a << 24 | b >> 16;
        if ((high & GameID.MaxServer) == 0) throw new GameIDException("sealed", GameIDException.Quote(text) + " was not made with this key for this kind");
        return GameID.FromFields((long)(high >> 20), (long)(high & GameID.MaxServer), (ushort)b);
    }

    ulong Round(int i, ulong half)
    {
        int t = kind.Length, zeros = ((10 - t) % 16 + 16) % 16;
        var m = new byte[16 + t + zeros + 6];
        new byte[] { 1, 2, 1, 0, 0, 2, 10, 40, 0, 0, 0, 80, (byte)(t >> 24), (byte)(t >> 16), (byte)(t >> 8), (byte)t }.CopyTo(m, 0);
        kind.CopyTo(m, 16);
        m[m.Length - 6] = (byte)i;
        for (int k = 0; k < 5; k++) m[m.Length - 1 - k] = (byte)(half >> 8 * k);
        var r = new byte[16];
        for (int at = 0; at < m.Length; at += 16)
        {
            for (int k = 0; k < 16; k++) r[k] ^= m[at + k];
            aes.TransformBlock(r, 0, 16, r, 0);
        }
        ulong y = 0;
        for (int k = 7; k <= 11; k++) y = y << 8 | r[k];
        return y;
    }
}

/// <summary>Short numbers.</summary>
public static class ShortNumber
{
    public const long Max = 999999999999999;

    static readonly string[] Damm =
    {
        "0317598642", "7092154863", "4206871359", "1750983426", "6123045978",
        "3674209581", "5869720134", "8945362017", "9438617205", "2581436790"
    };

    static int Left(long n)
    {
        int row = 0;
        foreach (char digit in n.ToString(CultureInfo.InvariantCulture)) row = Damm[row][digit - '0'] - '0';
        return row;
    }

    /// <summary>Reads a number as people type it, without looking at a check digit.</summary>
    public static long Parse(string text)
    {
        long n = 0;
        int digits = 0;
        bool gap = true; // none may come first
        foreach (char c in text)
        {
            if (c >= '0' && c <= '9')
            {
                if (++digits > 15) throw Bad("long", text, "it has more than 15 digits");
                n = 10 * n + (c - '0');
                if (n == 0) throw Bad("zero", text, "it begins with 0");
                gap = false;
            }
            else if (gap || " -\u00a0\u2009\u202f\u2011".IndexOf(c) < 0) throw Bad("form", text, "want digits, with single spaces or hyphens between them");
            else gap = true;
        }
        if (gap) throw Bad("form", text, "want digits at its end");
        return n;
    }

    static GameIDException Bad(string code, string text, string message)
    {
        return new GameIDException(code, GameIDException.Quote(text) + " is not a number: " + message);
    }

    /// <summary>Whether the last digit of n is its check digit.</summary>
    public static bool IsChecked(long n) { return n > 9 && Left(n) == 0; }

    /// <summary>Parse for numbers with a check digit.</summary>
    public static long ParseChecked(string text)
    {
        long n = Parse(text);
        if (!IsChecked(n)) throw new GameIDException("mistyped", GameIDException.Quote(text) + " is mistyped: its last digit does not fit the others");
        return n;
    }

    /// <summary>Returns n with its check digit at the end.</summary>
    public static long WithCheck(long n)
    {
        if (n < 1 || n > Max / 10) throw new GameIDException("range", "a number without its check digit is " + n + ", want 1 to " + Max / 10);
        return 10 * n + Left(n);
    }

    /// <summary>Returns the digits of n in groups of three.</summary>
    public static string Spaced(long n)
    {
        string text = n.ToString(CultureInfo.InvariantCulture);
        for (int at = text.Length - 3; at > 0; at -= 3) text = text.Insert(at, " ");
        return text;
    }
}
