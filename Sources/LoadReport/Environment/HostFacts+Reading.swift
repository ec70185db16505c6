private import Foundation

extension HostFacts {
    /// Facts about this machine and build; unavailable ones are `unknown`.
    package static func current() -> HostFacts {
        func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        let process = ProcessInfo.processInfo
        return HostFacts(
            name: process.hostName,
            processor: value("model name", separator: ":", in: text("/proc/cpuinfo")) ?? "unknown",
            processors: process.activeProcessorCount, memoryBytes: process.physicalMemory,
            system: value("PRETTY_NAME", separator: "=", in: text("/etc/os-release"))
                ?? process.operatingSystemVersionString,
            kernel: firstLine(text("/proc/sys/kernel/osrelease")) ?? "unknown",
            compiler: compilerName, build: buildMode)
    }

    /// Returns the value of the first line `key … separator value` in a system file, without quotes.
    static func value(_ key: String, separator: Character, in text: String) -> String? {
        for line in text.split(separator: "\n") {
            guard let middle = line.firstIndex(of: separator),
                line[..<middle].trimmingCharacters(in: .whitespaces) == key
            else { continue }
            let value = line[line.index(after: middle)...].trimmingCharacters(in: .whitespaces)
            let bare = value.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
            return bare.isEmpty ? nil : bare
        }
        return nil
    }

    private static func firstLine(_ text: String) -> String? { text.split(separator: "\n").first.map(String.init) }

    /// Detects the build mode: assertions run in debug builds only.
    private static var buildMode: String {
        var mode = "release"
        assert(
            {
                mode = "debug"
                return true
            }())
        return mode
    }

    private static var compilerName: String {
        #if compiler(>=6.5)
            "Swift 6.5 or later"
        #elseif compiler(>=6.4)
            "Swift 6.4"
        #elseif compiler(>=6.3)
            "Swift 6.3"
        #else
            "Swift 6.2"
        #endif
    }
}
