// Answers the questions of the tests, a line each. See ../languages_test.go.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Text;

static class Answer
{
    static readonly Dictionary<string, GameIDCipher> ciphers = new Dictionary<string, GameIDCipher>();

    static byte[] Bytes(string hex)
    {
        var bytes = new byte[hex.Length / 2];
        for (int i = 0; i < bytes.Length; i++) bytes[i] = Convert.ToByte(hex.Substring(2 * i, 2), 16);
        return bytes;
    }

    static string Text(string hex) { return new UTF8Encoding(false).GetString(Bytes(hex)); }

    static long Whole(string digits) { return long.Parse(digits, CultureInfo.InvariantCulture); }

    static GameIDCipher Cipher(string key, string kind)
    {
        GameIDCipher cipher;
        if (!ciphers.TryGetValue(key + " " + kind, out cipher)) ciphers[key + " " + kind] = cipher = new GameIDCipher(Bytes(key), Text(kind));
        return cipher;
    }

    static string Show(GameID id)
    {
        return string.Join("\t", id.Millis, id.Server, id.Sequence, BitConverter.ToString(id.ToBytes()).Replace("-", "").ToLowerInvariant(), id,
            id.Time.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture));
    }

    static string To(string[] q)
    {
        switch (q[0])
        {
            case "text": return Show(GameID.Parse(Text(q[1])));
            case "bytes": return Show(GameID.FromBytes(Bytes(q[1])));
            case "fields": return Show(GameID.FromFields(Whole(q[1]), Whole(q[2]), Whole(q[3])));
            case "compare": return Math.Sign(GameID.Parse(q[1]).CompareTo(GameID.Parse(q[2]))).ToString();
            case "seal": return Cipher(q[1], q[2]).Seal(GameID.Parse(Text(q[3])));
            case "open": return Cipher(q[1], q[2]).Open(Text(q[3])).ToString();
            case "number":
                long n = ShortNumber.Parse(Text(q[1]));
                return n + "\t" + ShortNumber.Spaced(n) + "\t" + (ShortNumber.IsChecked(n) ? 1 : 0);
            case "checked": return ShortNumber.ParseChecked(Text(q[1])).ToString();
            case "withcheck": return ShortNumber.WithCheck(Whole(q[1])).ToString();
        }
        throw new ArgumentException(q[0]);
    }

    static void Main()
    {
        var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false), 1 << 16);
        string line;
        while ((line = Console.In.ReadLine()) != null)
        {
            string answer;
            try { answer = "ok\t" + To(line.Split('\t')); }
            catch (GameIDException e) { answer = "error\t" + e.Code + "\t" + e.Message; }
            output.Write(answer + "\n");
        }
        output.Flush();
    }
}
