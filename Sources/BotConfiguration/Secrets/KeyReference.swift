/// A reference to a secret key or another secret. The configuration contains only references, never secrets.
package indirect enum KeyReference: Hashable, Sendable {
    /// A file of mode 0600 or stricter, owned by the current user; the path is absolute or relative to the working
    /// directory.
    case file(String)
    /// An environment variable.
    case environment(String)
    /// A systemd credential: a file with this name in `$CREDENTIALS_DIRECTORY`.
    case credential(String)
    /// A program and its arguments; it prints the secret to its standard output within ten seconds.
    case command([String])
    /// An encrypted key (NIP-49): references to the `ncryptsec1…` and to its password, each of a kind above.
    case encrypted(KeyReference, password: KeyReference)
    /// A remote signer (NIP-46) that holds the key; the reference is to its URL, which contains a secret.
    case bunker(KeyReference)
}

/// Returns whether a text contains something that looks like a secret key in bech32 form.
func containsSecretKey(_ text: some StringProtocol) -> Bool {
    let alphabet = Set("qpzry9x8gf2tvdw0s3jn54khce6mua7l")
    return text.lowercased().split(separator: "nsec1", omittingEmptySubsequences: false).dropFirst().contains { tail in
        tail.prefix { alphabet.contains($0) }.count >= 20
    }
}
