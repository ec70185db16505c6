package import ArgumentParser
import Nostr

extension BotProgram {
    package struct Status: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Show the status of the accounts of a running configuration.",
            discussion: "Exit status: 0 all are ready, 2 some are not, 3 no supervisor runs.")

        @OptionGroup var options: ControlOptions

        package init() {}

        package func run() throws {
            let view = StatusView(result: try ControlClient(options).call("status"))
            Console.printText(options.json ? view.result.prettyText : view.text)
            if !view.isGood { throw ExitCode.notReady }
        }
    }
}
