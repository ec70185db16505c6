import ArgumentParser
import BotProgram
import ConvergenceNode
import Foundation
import Logging
import ProcessSupport
import ServiceLifecycle

extension Pikabot {
    struct ConvergenceNodeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "convergence-node", abstract: "Run one account for MDK's convergence simulator.",
            discussion: """
                Reads requests of the protocol marmot-convergence-node-v1 from standard input, one JSON object per \
                line, and answers each with one line on standard output, in order. The account is created in the folder \
                that the request `initialize` names, or opened again; relays may be ws:// and have private addresses. \
                Ends after `shutdown`, at the end of the input, and on SIGTERM and SIGINT.
                """, shouldDisplay: false)

        @Flag(help: "Has no effect: the simulator passes it, but unencrypted relays are always accepted.")
        var allowCleartextIsolatedRelay = false

        func run() async throws {
            StandardErrorLog.bootstrap(level: .notice)
            let logger = Logger(label: "convergence-node")
            try await runUntilSignal([ConvergenceNodeService(logger: logger)], logger: logger)
        }
    }
}

/// A node on the standard streams. One request at a time is read.
private struct ConvergenceNodeService: Service {
    let logger: Logger

    func run() async throws {
        try await untilShutdown {
            let (lines, requests) = AsyncStream.makeStream(of: ConvergenceNode.Line.self)
            let (answers, answered) = AsyncStream.makeStream(of: Void.self)
            let logger = self.logger
            let node = ConvergenceNode { root, relays, body in
                try await LocalNodeAccount.open(root, relays: relays, logger: logger, body)
            } write: { line in
                Console.printControl("\(line)\n")
                answered.yield()
            }
            await withTaskGroup { group in
                group.addTask {
                    await BlockingStreams.read(STDIN_FILENO, longestLine: ConvergenceNode.longestLine) { piece in
                        switch piece {
                        case .line: requests.yield(.request(piece.text))
                        case .tooLong: requests.yield(.tooLong)
                        }
                        for await _ in answers { return }
                    }
                    requests.finish()
                }
                await node.run(lines)
                answered.finish()
                group.cancelAll()
            }
        }
    }
}
