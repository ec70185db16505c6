/// Where a secret key, or another secret, is kept. The configuration only ever says where, never what.
public indirect enum KeyReference: Hashable, Sendable {
    /// A file of mode 0600 or stricter that belongs to us; the path is absolute or relative to the working directory.
    case file(String)
    /// An environment variable.
    case environment(String)
    /// A systemd credential: a file of this name in `$CREDENTIALS_DIRECTORY`.
    case credential(String)
    /// A program and its arguments; it writes the secret to its standard output within ten seconds.
    case command([String])
    /// A key under a password (NIP-49): where the `ncryptsec1…` is, and where its password. Both are one of the above.
    case encrypted(KeyReference, password: KeyReference)
    /// A remote signer (NIP-46), which keeps the key; the reference is to its address, which holds a secret.
    case bunker(KeyReference)
}

/// Whether a text is, or contains, something that looks like a secret key in bech32 form.
func containsSecretKey(_ text: some StringProtocol) -> Bool {
    let alphabet = Set("qpzry9x8gf2tvdw0s3jn54khce6mua7l")
    return text.lowercased().split(separator: "nsec1", omittingEmptySubsequences: false).dropFirst().contains { tail in
        tail.prefix { alphabet.contains($0) }.count >= 20
    }
}
