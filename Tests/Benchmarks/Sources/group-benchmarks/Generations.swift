import CMalloc
import Foundation
import MLS
import Marmot
import Nostr

/// Groups of the second generation beside those of the first, and the choice between 25 rival commits.
///
/// Time is CPU time of the process, each figure the median. Nothing is written to a disk.
struct Generations {
    /// Number of times that each operation runs.
    struct Counts {
        var messages = 200
        var commits = 10
        var joins = 5
        var passes = 5
    }

    /// The figures of one generation in one group.
    struct Figures {
        var milliseconds: [String: Double] = [:]
        /// Bytes that a store writes.
        var written: [String: Double] = [:]
        /// Bytes in memory of a member that just joined.
        var joinedHeap = 0
        /// Further bytes in memory after five commits, including the states kept to undo them.
        var retainedHeap = 0
        /// Bytes in the store after the five commits.
        var stored = 0
    }

    static let branches = 5
    static let depth = 5
    /// The limit for the pass in a group of 100.
    static let target = 30.0
    private static let operations = ["join", "send", "receive", "commit: make", "commit: apply"]

    /// Prints a table for a group of `count`. Returns whether the pass stays within its limit.
    static func measure(_ count: Int, counts: Counts = Counts()) throws -> Bool {
        let now = UnixTime.systemTime
        let first = try Self.figures(try FirstMember.found(count, last: 10, now: now), counts, now)
        let community = try SecondMember.found(count, last: 10, now: now)
        let second = try Self.figures(community, counts, now)
        Self.line("\nGroups of \(count)\n")
        Self.line("| operation | v1 | v2 | v2 / v1 |")
        Self.line("| --- | --- | --- | --- |")
        for name in Self.operations {
            Self.row("\(name), ms", first.milliseconds[name] ?? 0, second.milliseconds[name] ?? 0)
        }
        for name in ["message", "commit"] {
            Self.row("bytes written for a \(name)", first.written[name] ?? 0, second.written[name] ?? 0)
        }
        Self.row("joined: bytes in memory", Double(first.joinedHeap), Double(second.joinedHeap))
        Self.row("five commits later: further bytes", Double(first.retainedHeap), Double(second.retainedHeap))
        Self.row("five commits later: bytes in the store", Double(first.stored), Double(second.stored))
        return try Self.pass(in: community, count, counts, apply: first.milliseconds["commit: apply"] ?? 0, now)
    }

    private static func figures<Member: BenchmarkMember>(
        _ community: Community<Member>, _ counts: Counts, _ now: UnixTime
    ) throws -> Figures {
        var figures = Figures()
        var founder = community.founder
        figures.milliseconds["join"] = try Self.median(counts.joins) { _ = try community.guests[0].join() }
        var member = try community.guests[1].join()
        member.store()
        var sending: [Double] = []
        var receiving: [Double] = []
        let before = member.meter.written
        for number in 0..<counts.messages {
            let text = "message \(number): the quick brown fox jumps over the lazy dog"
            var event: Event?
            sending.append(try Self.time { event = try founder.say(text, now: now) })
            guard let event else { throw Unexpected.outcome("no event") }
            receiving.append(try Self.time { try member.read(event, now: now) })
            member.store()
        }
        figures.milliseconds["send"] = Self.median(of: sending)
        figures.milliseconds["receive"] = Self.median(of: receiving)
        figures.written["message"] = Double(member.meter.written - before) / Double(counts.messages)
        var making: [Double] = []
        var applying: [Double] = []
        let beforeCommits = member.meter.written
        for number in 0..<counts.commits {
            var event: Event?
            // Increasing times, because the first generation orders rival commits by them.
            let time = now + Int64(number)
            making.append(try Self.time { event = try founder.renew(now: time) })
            guard let event else { throw Unexpected.outcome("no event") }
            applying.append(try Self.time { try member.read(event, now: time) })
            member.store()
        }
        guard member.epoch == founder.epoch else { throw Unexpected.outcome("the members are in different epochs") }
        figures.milliseconds["commit: make"] = Self.median(of: making)
        figures.milliseconds["commit: apply"] = Self.median(of: applying)
        figures.written["commit"] = Double(member.meter.written - beforeCommits) / Double(counts.commits)
        try Self.measureMemory(of: community, &figures, now)
        return figures
    }

    /// Measures a member that joins, and applies five commits.
    private static func measureMemory<Member: BenchmarkMember>(
        of community: Community<Member>, _ figures: inout Figures, _ now: UnixTime
    ) throws {
        var founder = community.founder
        let events = try (0..<5).map { try founder.renew(now: now + Int64($0)) }
        let start = Self.heapBytes
        var member = try community.guests[2].join()
        figures.joinedHeap = Self.heapBytes - start
        member.store()
        let joined = Self.heapBytes
        for (number, event) in events.enumerated() {
            try member.read(event, now: now + Int64(number))
            member.store()
        }
        figures.retainedHeap = Self.heapBytes - joined
        figures.stored = member.meter.held
        // Keep the member alive until memory was measured.
        guard member.epoch == founder.epoch else { throw Unexpected.outcome("the members are in different epochs") }
    }

    /// Measures the choice between five branches of five commits.
    ///
    /// - Parameter apply: the time in which the first generation applies one commit.
    private static func pass(
        in community: Community<SecondMember>, _ count: Int, _ counts: Counts, apply: Double, _ now: UnixTime
    ) throws -> Bool {
        // Their outer layers are opened by their authors: a member knows the keys of a branch only after a pass.
        var inputs: [ConvergenceInput] = []
        for guest in community.guests[1...Self.branches] {
            var author = try guest.join()
            for _ in 0..<Self.depth {
                let event = try author.renew(now: now)
                inputs.append(try author.input(of: event))
            }
        }
        let joined = try community.guests[0].join()
        var admitting: [Double] = []
        var choosing: [Double] = []
        var heap = 0
        var held = 0
        for _ in 0..<counts.passes {
            var member = joined
            member.store()
            let start = Self.heapBytes
            admitting.append(try Self.time { for input in inputs { try member.admit(input) } })
            choosing.append(Self.time { member.endPass() })
            member.store()
            // The tip, the five states before it, and twenty on the other branches.
            guard member.convergence.readableStates.count == Self.branches * Self.depth + 1 else {
                throw Unexpected.outcome("expected the states of all branches")
            }
            heap = Self.heapBytes - start
            held = member.meter.held
        }
        let (admission, choice) = (Self.median(of: admitting), Self.median(of: choosing))
        let candidates = Double(Self.branches * Self.depth)
        Self.line("\n| \(Self.branches) branches of \(Self.depth) commits | figure | x 25 commits of v1 |")
        Self.line("| --- | --- | --- |")
        Self.line("| admitting, ms | \(Self.number(admission)) | \(Self.number(admission / candidates / apply)) |")
        Self.line("| choosing, ms | \(Self.number(choice)) | \(Self.number(choice / candidates / apply)) |")
        Self.line("| further bytes in memory | \(heap) | |")
        Self.line("| bytes in the store | \(held) | |")
        guard count == 100 else { return true }
        Self.line(
            "\nchoosing: \(choice < Self.target ? "ok" : "over its limit") (below \(Self.number(Self.target)) ms)")
        return choice < Self.target
    }

    // MARK: Measuring

    private static var heapBytes: Int {
        let statistics = mallinfo2()
        return Int(statistics.uordblks + statistics.hblkhd)
    }

    /// Milliseconds of CPU time.
    private static func time(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1e6
        }
        let start = now()
        try body()
        return now() - start
    }

    private static func median(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        var samples: [Double] = []
        for _ in 0..<count { samples.append(try Self.time(body)) }
        return Self.median(of: samples)
    }

    private static func median(of samples: [Double]) -> Double { samples.sorted()[samples.count / 2] }

    private static func row(_ name: String, _ first: Double, _ second: Double) {
        let ratio = first > 0 ? Self.number(second / first) : "-"
        Self.line("| \(name) | \(Self.number(first)) | \(Self.number(second)) | \(ratio) |")
    }

    private static func number(_ value: Double) -> String {
        String(format: value >= 100 ? "%.0f" : value >= 1 ? "%.2f" : "%.4f", value)
    }

    private static func line(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }
}
