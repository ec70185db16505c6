import Foundation

/// `mls-benchmarks [--json FILE] [--smallest N] [--largest N] [--budget SECONDS]`: prints the table in Markdown.
@main
struct Benchmarks {
    static func main() throws {
        let options = try Options(CommandLine.arguments.dropFirst())
        let watch = Stopwatch(budget: options.budget)
        let floor = try Floor(watch)
        var table = Measurements(watch: watch, floor: floor, report: Report(floor))
        Report.emit(Report.header)
        try table.keyPackages()
        for count in [2, 10, 100, 1000] where count >= options.smallest && count <= options.largest {
            try self.run(count, &table)
        }
        if options.largest >= 1000 { try table.onTwoProcessors(1000, createTarget: 95, joinTarget: 33) }
        if options.smallest <= 256, options.largest >= 256 { try table.joinUnmerged(256) }
        if let file = options.json { try table.report.json().write(to: URL(fileURLWithPath: file)) }
        let failed = table.report.rows.filter { !$0.beatsPeer || !$0.meetsTarget }
        guard failed.isEmpty else {
            Report.emit("\n\(failed.count) rows are slower than \(Peer.name) or over target.")
            exit(1)
        }
    }

    private static func run(_ count: Int, _ table: inout Measurements) throws {
        let fresh = try table.world.freshGroup(count)
        if count != 10 { for size in [100, 1024] { try table.messages(count, fresh, size: size) } }
        try table.update(count, fresh, isFull: false)
        guard count > 2 else { return }
        let isLargest = count == 1000
        try table.createAndAdd(count - 1, target: isLargest ? 250 : nil)
        // The joiner is the last of `count`.
        try table.join(count, table.world.freshGroup(count - 1).first, isFull: false, target: isLargest ? 90 : nil)
        try table.addOne(count, fresh, isFull: false)
        try table.removeOne(count, fresh, isFull: false)
        let full = try table.world.fullGroup(count)
        try table.join(count, full.first, isFull: true, target: isLargest ? 90 : nil)
        try table.update(count, full, isFull: true)
        try table.addOne(count, full, isFull: true)
        try table.removeOne(count, full, isFull: true)
    }
}

struct Options {
    var json: String?
    var smallest = 2
    var largest = 1000
    var budget = 0.5

    struct Usage: Error, CustomStringConvertible {
        let description = "usage: mls-benchmarks [--json FILE] [--smallest N] [--largest N] [--budget SECONDS]"
    }

    init(_ arguments: ArraySlice<String>) throws {
        var rest = Array(arguments)
        while !rest.isEmpty {
            let name = rest.removeFirst()
            guard !rest.isEmpty else { throw Usage() }
            let value = rest.removeFirst()
            switch name {
            case "--json": self.json = value
            case "--smallest": self.smallest = try Self.number(value)
            case "--largest": self.largest = try Self.number(value)
            case "--budget":
                guard let number = Double(value) else { throw Usage() }
                self.budget = number
            default: throw Usage()
            }
        }
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else { throw Usage() }
        return number
    }
}
