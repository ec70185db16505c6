import Foundation

/// This project's half of `mdk_comparison.py`. Prints one JSON object; `generations` prints Markdown.
///
///     group-benchmarks rows [FOLDER]                        durable in FOLDER, or in memory
///     group-benchmarks prepare FOLDER GROUPS MEMBERS [active]
///     group-benchmarks footprint FOLDER                     of a prepared folder
///     group-benchmarks generations [MEMBERS…]               v2 beside v1; 100 and 1000 by default, at least 20
@main
enum GroupBenchmarks {
    static func main() async throws {
        guard !Self.isDebugBuild else {
            FileHandle.standardError.write(
                Data("a debug build gives meaningless figures: build with -c release\n".utf8))
            exit(2)
        }
        let arguments = Array(CommandLine.arguments.dropFirst())
        // Off the main thread: hops from it cost more than the work.
        try await Task.detached { try await Self.run(arguments) }.value
    }

    private static func run(_ arguments: [String]) async throws {
        switch (arguments.first, arguments.count) {
        case ("rows", 1...2): try Self.print(await Rows.measure(folder: arguments.dropFirst().first))
        case ("prepare", 4...5):
            guard let groups = Int(arguments[2]), let members = Int(arguments[3]), members > 1 else { fallthrough }
            try await Footprint.prepare(
                arguments[1], groups: groups, members: members, isActive: arguments.last == "active")
        case ("footprint", 2): try Self.print(await Footprint.measure(arguments[1]))
        case ("generations", _):
            let counts = arguments.dropFirst().compactMap { Int($0) }
            guard counts.count == arguments.count - 1, counts.allSatisfy({ $0 >= 20 }) else { fallthrough }
            var isFast = true
            for count in counts.isEmpty ? [100, 1000] : counts {
                isFast = try Generations.measure(count) && isFast
            }
            if !isFast { exit(1) }
        default:
            FileHandle.standardError.write(Data("see the head of GroupBenchmarks.swift for the arguments\n".utf8))
            exit(64)
        }
    }

    private static func print(_ value: some Encodable) throws {
        FileHandle.standardOutput.write(try JSONEncoder().encode(value) + Data("\n".utf8))
    }

    /// Assertions are evaluated in debug builds only.
    private static var isDebugBuild: Bool {
        var evaluates = false
        assert(
            {
                evaluates = true
                return true
            }())
        return evaluates
    }
}
