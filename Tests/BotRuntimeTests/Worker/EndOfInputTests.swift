import Foundation
import LiveTesting
import Logging
import ServiceLifecycle
import Testing

@testable import BotRuntime

@Suite(.bounded)
struct EndOfInputTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func run(_ pipe: Pipe, _ body: (ServiceGroup) async throws -> Void) async throws {
        let channel = SupervisorChannel(
            descriptor: pipe.fileHandleForReading.fileDescriptor, write: { _ in }, logger: logger)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: EndOfInput(channel: channel), successTerminationBehavior: .gracefullyShutdownGroup)
                ], logger: logger))
        try await withThrowingDiscardingTaskGroup { tasks in
            tasks.addTask { await channel.serve() }
            try await body(group)
            tasks.cancelAll()
        }
    }

    @Test func endsWithLastWriter() async throws {
        let pipe = Pipe()
        try await run(pipe) { group in
            try pipe.fileHandleForWriting.write(contentsOf: Array("no question\n".utf8))
            try pipe.fileHandleForWriting.close()
            await #expect(throws: Never.self) { try await group.run() }
        }
    }

    @Test func endsOnGracefulShutdown() async throws {
        let pipe = Pipe()
        try await run(pipe) { group in
            await group.triggerGracefulShutdown()
            await #expect(throws: Never.self) { try await group.run() }
        }
        try pipe.fileHandleForWriting.close()
    }

    @Test func lateWaiterReturnsAtOnce() async throws {
        let pipe = Pipe()
        let channel = SupervisorChannel(
            descriptor: pipe.fileHandleForReading.fileDescriptor, write: { _ in }, logger: logger)
        try pipe.fileHandleForWriting.close()
        await channel.serve()
        await channel.waitForEnd()
    }
}
