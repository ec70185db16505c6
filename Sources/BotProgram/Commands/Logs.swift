package import ArgumentParser
import Foundation
import Nostr

extension BotProgram {
    package struct Logs: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Show the newest log lines of running accounts.",
            discussion: "The supervisor keeps about 1000 lines of each account in memory.")

        @OptionGroup var options: ControlOptions
        @Argument(help: "The account; all by default.") var account: String?
        @Option(name: .shortAndLong, help: "The number of lines.") var lines = 100
        @Flag(name: .shortAndLong, help: "Follow new lines.") var follow = false

        package init() {}

        package func run() throws {
            let client = try ControlClient(options)
            var parameters: JSONObject = ["lines": .integer(Int64(lines)), "follow": .bool(follow)]
            parameters["account"] = account.map { .string($0) }
            guard follow else {
                for line in try client.call("logs", parameters)["lines"]?.array ?? [] { show(line) }
                return
            }
            try client.send("logs", parameters)
            while let line = try client.next() {
                if let message = line["error"]?["message"]?.string { throw CommandError(message) }
                show(line)
            }
        }

        private func show(_ line: JSONValue) {
            guard !options.json else { return Console.print(line.jsonText) }
            let time = Date(timeIntervalSince1970: Double(line["time"]?.integer ?? 0) / 1000)
            let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: .current)
                .year().month().day().time(includingFractionalSeconds: false)
            let name = account == nil ? "\(line["account"]?.string ?? "-"): " : ""
            Console.print("\(time.formatted(style)) \(name)\(line["text"]?.string ?? "")")
        }
    }
}
