import Foundation
import Logging
import ServiceLifecycle
import Testing

@testable import BotRuntime

@Suite(.timeLimit(.minutes(15)))
struct EndOfInputTests {
    private func group(_ service: EndOfInput) -> ServiceGroup {
        ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    }

    @Test func endsWithTheLastWriter() async throws {
        let pipe = Pipe()
        let group = group(EndOfInput(descriptor: pipe.fileHandleForReading.fileDescriptor))
        try pipe.fileHandleForWriting.write(contentsOf: Array("nobody's order\n".utf8))
        try pipe.fileHandleForWriting.close()
        await #expect(throws: Never.self) { try await group.run() }
    }

    @Test func endsWithAGracefulShutdownToo() async throws {
        let pipe = Pipe()
        let group = group(EndOfInput(descriptor: pipe.fileHandleForReading.fileDescriptor))
        await group.triggerGracefulShutdown()
        await #expect(throws: Never.self) { try await group.run() }
        try pipe.fileHandleForWriting.close()
    }
}
