#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The holder of a lock, according to the lock file. Its lines are: process id and program; start of the lock; host;
/// command.
struct LockHolder: CustomStringConvertible {
    private static let longestFile = 4096
    private static let longestCommand = 500

    private let lines: [String]

    init(reading descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: Self.longestFile)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// A description such as `process 4711 (pikabot) on host since 2026-11-21 20:15:02 UTC (command: pikabot run
    /// bots.yaml)`.
    var description: String {
        let parts = (lines.first ?? "").split(separator: " ", maxSplits: 1)
        guard let process = parts.first.flatMap({ Int32($0) }) else { return "another process" }
        let program = parts.count == 2 ? " (\(parts[1]))" : ""
        guard lines.count >= 4, let start = Int(lines[1]) else { return "process \(process)\(program)" }
        return "process \(process)\(program) on \(lines[2]) since \(Self.text(ofTime: start)) (command: \(lines[3]))"
    }

    /// Returns the lock file's content for this process.
    static func bytes(program: String) -> [UInt8] {
        let command = CommandLine.arguments.joined(separator: " ").prefix(longestCommand)
        let lines = ["\(getpid()) \(program)", "\(time(nil))", host(), String(command)]
        return Array(lines.map { $0.replacing("\n", with: " ") + "\n" }.joined().utf8)
    }

    private static func host() -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "an unnamed host" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func text(ofTime seconds: Int) -> String {
        var time = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "second \(seconds)" }
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S UTC", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
