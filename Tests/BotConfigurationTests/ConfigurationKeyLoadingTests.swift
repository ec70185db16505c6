import Foundation
import LiveTesting
import Nostr
import PikaCore
import Testing

@testable import BotConfiguration

struct ConfigurationKeyLoadingTests {
    // The test vector of NIP-19.
    let nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
    let hex = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa"

    private func failure(_ reference: KeyReference, _ environment: [String: String] = [:]) -> KeyLoadingError? {
        do {
            _ = try reference.load(environment: environment)
            return nil
        } catch {
            return error
        }
    }

    @Test func readsBothKeyFormats() throws {
        try withTemporaryFolder { folder in
            for text in [nsec, nsec + "\n", hex, hex + "\n"] {
                for mode in [0o600, 0o400] {
                    let path = "\(folder)/\(UUID().uuidString)"
                    try writeFile(text, to: path, mode: mode)
                    #expect(Hex.encode(try KeyReference.file(path).load(environment: [:])) == hex)
                }
            }
        }
    }

    @Test(arguments: [(0o644, "0644"), (0o640, "0640"), (0o660, "0660"), (0o601, "0601"), (0o4755, "4755")])
    func refusesFilesReadableByOthers(mode: Int, shown: String) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/key"
            try writeFile(nsec, to: path, mode: mode)
            let error = failure(.file(path))
            #expect(error?.code == .permissions)
            #expect(error?.message == "\(path): mode is \(shown), so others can read it; run: chmod 600 \(path)")
        }
    }

    @Test func refusesForeignFiles() {
        #expect(throws: Never.self) { try ProtectedFile.checkPrivate("k", mode: 0o600, owner: geteuid()) }
        #expect(throws: Never.self) { try ProtectedFile.checkPrivate("k", mode: 0o600, owner: 0) }
        let error = #expect(throws: KeyLoadingError.self) {
            try ProtectedFile.checkPrivate("k", mode: 0o600, owner: 54_321)
        }
        #expect(
            error?.message
                == "k: belongs to user 54321, not to user \(geteuid()) who runs this; run: chown \(geteuid()) k")
    }

    @Test func refusesNonKeys() throws {
        try withTemporaryFolder { folder in
            let zero = String(repeating: "0", count: 64)
            let wrong = [
                "", "\n", nsec + "\n\n", " " + nsec, nsec + " # mine", "key: " + nsec, String(nsec.dropLast()),
                hex + "00",
                String(hex.dropLast()), zero, nsec + "\r\n", nsec + "\n" + nsec,
            ]
            for (index, text) in wrong.enumerated() {
                let path = "\(folder)/\(index)"
                try writeFile(text, to: path)
                let error = failure(.file(path))
                #expect(error?.code == .malformed, "\(index)")
                #expect(
                    error?.message
                        == "\(path): expected only an nsec or 64 hex digits (one trailing line break is allowed); "
                        + "put the account's secret key there, and nothing else")
            }
            try writeFile([0xFF, 0xFE], to: folder + "/bytes")
            #expect(
                failure(.file(folder + "/bytes"))?.message
                    == "\(folder)/bytes: expected ASCII or UTF-8 text, found other bytes")
            try writeFile(String(repeating: "a", count: 5000), to: folder + "/long")
            #expect(
                failure(.file(folder + "/long"))?.message
                    == "\(folder)/long: longer than 4096 bytes, the limit for secrets")
            #expect(failure(.file(folder))?.message == "\(folder): not a regular file")
            #expect(failure(.file(folder + "/absent"))?.message == "\(folder)/absent: No such file or directory")
        }
    }

    @Test func readsTheEnvironment() throws {
        #expect(Hex.encode(try KeyReference.environment("K").load(environment: ["K": nsec])) == hex)
        #expect(failure(.environment("K"))?.message == "environment variable K is not set")
        #expect(failure(.environment("K"), ["K": "secret"])?.code == .malformed)
    }

    @Test func readsSystemdCredentials() throws {
        try withTemporaryFolder { folder in
            try writeFile(nsec, to: folder + "/greeter", mode: 0o440)
            let environment = ["CREDENTIALS_DIRECTORY": folder]
            #expect(Hex.encode(try KeyReference.credential("greeter").load(environment: environment)) == hex)
            #expect(failure(.credential("other"), environment)?.code == .unreadable)
            #expect(
                failure(.credential("greeter"))?.message
                    == "credential greeter: CREDENTIALS_DIRECTORY is not set; "
                    + "start under systemd with LoadCredential=greeter:PATH")
        }
    }

    @Test func runsCommand() throws {
        let environment = ["PATH": "/usr/bin:/bin", "KEY": nsec]
        let echo = KeyReference.command(["sh", "-c", "echo $KEY"])
        #expect(Hex.encode(try echo.load(environment: environment)) == hex)
        #expect(try echo.loadKeyPair(environment: environment).nsec == nsec)
        #expect(
            failure(.command(["sh", "-c", "echo $KEY; exit 3"]), environment)
                == KeyLoadingError(.commandFailed, "command sh: ended with status 3"))
        #expect(
            failure(.command(["no-such-program"]), environment)
                == KeyLoadingError(.commandFailed, "command no-such-program: program not found"))
        #expect(failure(.command(["sh", "-c", "echo hello"]), environment)?.code == .malformed)
    }

    // The test vector of NIP-49.
    private let ncryptsec =
        "ncryptsec1qgg9947rlpvqu76pj5ecreduf9jxhselq2nae2kghhvd5g7dgjtcxfqtd67p9m0w57lspw8gsq6yphnm8623nsl8xn9j4jdzz84zm3frztj3z7s35vpzmqf6ksu8r89qk5z2zxfmu5gv8th8wclt0h4p"

    @Test func decryptsPasswordProtectedKeys() throws {
        let secret = "3501454135014541350145413501453fefb02227e449e57cf4d3a3ce05378683"
        try withTemporaryFolder { folder in
            try writeFile(ncryptsec + "\n", to: folder + "/key")
            try writeFile("nostr\n", to: folder + "/password")
            let reference = KeyReference.encrypted(.file(folder + "/key"), password: .file(folder + "/password"))
            #expect(Hex.encode(try reference.load(environment: [:])) == secret)
            let environment = ["K": ncryptsec, "P": "nostr", "W": "Nostr", "N": nsec]
            let fromVariables = KeyReference.encrypted(.environment("K"), password: .environment("P"))
            #expect(Hex.encode(try fromVariables.load(environment: environment)) == secret)
            #expect(
                failure(.encrypted(.environment("K"), password: .environment("W")), environment)
                    == KeyLoadingError(
                        .wrongPassword, "environment variable W: wrong password for environment variable K"))
            #expect(
                failure(.encrypted(.environment("N"), password: .environment("P")), environment)
                    == KeyLoadingError(
                        .malformed,
                        "environment variable N: expected only an ncryptsec (one trailing line break is allowed)"))
            #expect(
                failure(.encrypted(.environment("K"), password: .environment("absent")), environment)
                    == KeyLoadingError(.unreadable, "environment variable absent is not set"))
            // With swapped files, neither secret is shown.
            #expect(failure(.environment("K"), environment)?.code == .malformed)
            try writeFile("nostr", to: folder + "/open", mode: 0o644)
            #expect(
                failure(.encrypted(.file(folder + "/key"), password: .file(folder + "/open")))?.code == .permissions)
        }
    }

    @Test func acceptsUnicodePasswords() throws {
        var generator = SystemRandomNumberGenerator()
        let key = try KeyPair(parsing: nsec)
        // The same password, typed in two ways (NIP-49).
        let text = try key.encrypted(
            password: NIP49.Password("\u{C5}\u{3A9}\u{1E69}"), logN: 1, using: &generator)
        let environment = ["K": text, "P": "\u{212B}\u{2126}\u{1E9B}\u{0323}"]
        let reference = KeyReference.encrypted(.environment("K"), password: .environment("P"))
        #expect(try reference.loadKeyPair(environment: environment) == key)
    }

    @Test func killsSlowCommand() {
        let endless = KeyReference.command(["/bin/sh", "-c", "exec cat /dev/zero >/dev/null"])
        let error = #expect(throws: KeyLoadingError.self) {
            try endless.loadKeyPair(environment: [:], commandLimit: .milliseconds(50))
        }
        #expect(error == KeyLoadingError(.commandFailed, "command /bin/sh: did not end within 50ms"))
        #expect(KeyReference.commandLimit == .seconds(10))
    }
}
