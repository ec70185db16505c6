#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The kernel's statistics of this process, under the standard names of Prometheus clients.
///
/// Read from `/proc`; without it, nothing is exported.
package enum ProcessMetrics {
    package static func families() -> [MetricFamily] {
        guard let statText = text(of: "/proc/self/stat"), let stat = ProcessStat(statText) else { return [] }
        var values: [(MetricDescription, Double?)] = [
            (MetricCatalogue.processCPU, stat.cpuTicks / Double(sysconf(Int32(_SC_CLK_TCK)))),
            (MetricCatalogue.processResidentMemory, stat.residentPages * Double(sysconf(Int32(_SC_PAGESIZE)))),
            (MetricCatalogue.processVirtualMemory, stat.virtualBytes),
            (MetricCatalogue.processOpenFiles, openFiles()),
            (MetricCatalogue.processMaximumFiles, text(of: "/proc/self/limits").flatMap(maximumFiles)),
        ]
        let started = text(of: "/proc/stat").flatMap(bootTime)
            .map { $0 + stat.startTicks / Double(sysconf(Int32(_SC_CLK_TCK))) }
        values.append((MetricCatalogue.processStart, started))
        return values.compactMap { description, value in
            value.map { MetricFamily(description, series: [.init(value: $0)]) }
        }
    }

    /// Returns the resident memory of this process; nil if the kernel does not report it.
    package static func residentBytes() -> Double? {
        text(of: "/proc/self/stat").flatMap { ProcessStat($0) }
            .map { $0.residentPages * Double(sysconf(Int32(_SC_PAGESIZE))) }
    }

    /// Parses the time of the machine's boot in Unix seconds from `/proc/stat`.
    static func bootTime(_ text: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
    }

    /// Parses the soft limit of open files from `/proc/self/limits`.
    static func maximumFiles(_ text: String) -> Double? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Max open files") }) else {
            return nil
        }
        return line.split(separator: " ").dropFirst(3).first.flatMap { $0 == "unlimited" ? nil : Double($0) }
    }

    private static func openFiles() -> Double? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Excludes ".", ".." and the directory's own descriptor.
        return Double(max(0, count - 3))
    }

    private static func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8192)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0, bytes.count < 1 << 20 else { return nil }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}

/// The fields of `/proc/self/stat` that are exported; see proc(5).
struct ProcessStat: Equatable {
    /// User and system time in clock ticks.
    let cpuTicks: Double
    /// The process's start in clock ticks after the boot.
    let startTicks: Double
    let virtualBytes: Double
    let residentPages: Double

    init?(_ text: String) {
        // The program's name may contain spaces and parentheses, so parse the fields after the last parenthesis.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(whereSeparator: \.isWhitespace)
        // The first field after the name is field 3 of proc(5).
        func field(_ number: Int) -> Double? { fields.indices.contains(number - 3) ? Double(fields[number - 3]) : nil }
        guard let user = field(14), let system = field(15), let start = field(22), let size = field(23),
            let pages = field(24)
        else { return nil }
        cpuTicks = user + system
        startTicks = start
        virtualBytes = size
        residentPages = pages
    }
}
