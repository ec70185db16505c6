import BotProgram
import Foundation
import Nostr
import PikaCore

/// Reads the password of an encrypted key from a file, the environment or the terminal.
enum Password {
    static let variable = "PIKABOT_PASSWORD"

    /// Returns the file's first line without its line ending, or the password from another source.
    static func read(file: String?, environment: [String: String]) throws -> String {
        if let file {
            guard let data = FileManager.default.contents(atPath: file) else {
                throw CommandError("\(file): the password cannot be read")
            }
            return try firstLine(of: Array(data), file)
        }
        if let password = environment[variable] { return password }
        return try ask()
    }

    /// Returns the password in the content of a file.
    static func firstLine(of bytes: [UInt8], _ file: String) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError("\(file): the password must be UTF-8")
        }
        return String(text.prefix { !$0.isNewline })
    }

    /// Decrypts a password-protected key (NIP-49) with a password as ``read(file:environment:)`` returns it.
    static func decrypt(_ text: String, passwordFile: String?) throws -> KeyPair {
        do {
            let encrypted = try NIP49.EncryptedKey(parsing: text)
            let password = try read(file: passwordFile, environment: ProcessInfo.processInfo.environment)
            Console.progress("decrypting the key…")
            return try encrypted.decrypt(password: NIP49.Password(password))
        } catch let error as NostrError { throw CommandError("the key cannot be decrypted: \(error.message)") }
    }

    /// Prompts on the terminal without echo, even if standard input is redirected.
    private static func ask() throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else {
            throw CommandError("the key has a password: pass a file with --password-file, or set \(variable)")
        }
        defer { close(terminal) }
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else {
            throw CommandError("the terminal cannot prompt for a password")
        }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(terminal, TCSAFLUSH, &silent)
        defer { tcsetattr(terminal, TCSAFLUSH, &before) }
        let handle = FileHandle(fileDescriptor: terminal, closeOnDealloc: false)
        try? handle.write(contentsOf: Data("Password of the key: ".utf8))
        defer { try? handle.write(contentsOf: Data("\n".utf8)) }
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while Foundation.read(terminal, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError("the password must be UTF-8")
        }
        return text
    }
}
