import Foundation
import LiveTesting
import Logging
import Testing

@testable import Supervisor

/// A datagram socket that replaces the service manager's.
final class Manager {
    let path: String
    private let descriptor: Int32

    /// - Parameter isAbstract: whether to use a name of Linux's abstract namespace, without a file.
    init(isAbstract: Bool = false) throws {
        let name = "pikabot-notify-\(UUID().uuidString.prefix(8))"
        path = isAbstract ? "@\(name)" : "/tmp/\(name)"
        #if canImport(Glibc)
            descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #else
            descriptor = Foundation.socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = isAbstract ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
        let descriptor = descriptor
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(status == 0)
    }

    deinit {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
        if path.hasPrefix("/") { unlink(path) }
    }

    /// Returns the next datagram; empty if none arrives.
    func next(milliseconds: Int32 = 20_000) -> String {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, milliseconds) == 1 else { return "" }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// Returns the datagrams received so far.
    func all() -> [String] {
        var texts: [String] = []
        while true {
            let text = next(milliseconds: 0)
            if text.isEmpty { return texts }
            texts.append(text)
        }
    }

    /// All later notifications. A separate thread reads them, because a blocking read must not delay the sender; the
    /// thread ends with the manager.
    func texts() -> AsyncStream<String> {
        let (texts, continuation) = AsyncStream.makeStream(of: String.self)
        let descriptor = descriptor
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                continuation.yield(String(decoding: buffer.prefix(count), as: UTF8.self))
            }
            continuation.finish()
        }
        return texts
    }

    func socket(watchdog: String? = nil) throws -> NotifySocket {
        var environment = ["NOTIFY_SOCKET": path]
        environment["WATCHDOG_USEC"] = watchdog
        return try #require(try NotifySocket(environment: environment, process: 1))
    }
}

@Suite(.live) struct NotifySocketTests {
    @Test(arguments: [false, true])
    func deliversDatagrams(isAbstract: Bool) throws {
        #if !os(Linux)
            if isAbstract { return }
        #endif
        let manager = try Manager(isAbstract: isAbstract)
        let socket = try manager.socket()
        #expect(socket.send("READY=1\nSTATUS=good"))
        #expect(manager.next() == "READY=1\nSTATUS=good")
    }

    @Test func sendFailsWithoutListener() throws {
        let socket = try #require(
            try NotifySocket(environment: ["NOTIFY_SOCKET": "/nonexistent/socket"], process: 1))
        #expect(!socket.send("READY=1"))
    }

    @Test func returnsNilWithoutSocket() throws {
        #expect(try NotifySocket(environment: [:], process: 1) == nil)
        #expect(try NotifySocket(environment: ["NOTIFY_SOCKET": ""], process: 1) == nil)
    }

    @Test(arguments: ["relative", "@", "vsock:2:1", "/" + String(repeating: "x", count: 120)])
    func refusesInvalidSocket(path: String) {
        #expect {
            try NotifySocket(environment: ["NOTIFY_SOCKET": path], process: 1)
        } throws: { ($0 as? SupervisorError)?.code == .invalidConfiguration }
    }

    @Test(
        arguments: [
            ("30000000", nil, Duration.seconds(30)), ("30000000", "7", .seconds(30)), ("30000000", "8", nil),
            ("0", nil, nil), ("-1", nil, nil), ("x", nil, nil), (nil, "7", nil),
        ] as [(String?, String?, Duration?)])
    func watchdogNeedsOwnPID(limit: String?, process: String?, watchdog: Duration?) throws {
        var environment = ["NOTIFY_SOCKET": "/run/x"]
        environment["WATCHDOG_USEC"] = limit
        environment["WATCHDOG_PID"] = process
        #expect(try NotifySocket(environment: environment, process: 7)?.watchdog == watchdog)
    }
}

@Suite(.live) struct ServiceManagerTests {
    private func machine(_ names: [String]) -> SupervisorStateMachine {
        var machine = SupervisorStateMachine(
            workers: names.map { shell($0, "") },
            configuration: SupervisorConfiguration(intensity: 0, patience: .seconds(8)))
        _ = machine.start()
        for index in names.indices { _ = machine.spawned(index, pid: Int32(index)) }
        return machine
    }

    private func fail(_ machine: inout SupervisorStateMachine, _ worker: Int) {
        var generator = SplitMix64(seed: 1)
        _ = machine.exited(worker, .exited(1), now: .zero, using: &generator)
    }

    @Test func readyOnceAllWereReady() throws {
        let manager = try Manager()
        var service = ServiceManager(socket: try manager.socket())
        var machine = machine(["a", "b"])
        service.show(machine)
        #expect(manager.all() == ["STATUS=0 of 2 accounts ready"])
        _ = machine.reported(0, .ready)
        service.show(machine)
        #expect(manager.all() == ["STATUS=1 of 2 accounts ready"])
        service.beat(machine)
        #expect(manager.all() == ["EXTEND_TIMEOUT_USEC=40000000"])
        _ = machine.reported(1, .ready)
        service.show(machine)
        #expect(manager.all() == ["READY=1\nSTATUS=2 of 2 accounts ready", "STATUS=2 of 2 accounts ready"])
        service.show(machine)
        service.beat(machine)
        #expect(manager.all() == [])
    }

    @Test func quarantinedWorkerDoesNotBlockReadiness() throws {
        let manager = try Manager()
        var service = ServiceManager(socket: try manager.socket())
        var machine = machine(["a", "b"])
        fail(&machine, 1)
        service.show(machine)
        #expect(manager.all() == ["STATUS=0 of 2 accounts ready; quarantined: b"])
        _ = machine.reported(0, .ready)
        service.show(machine)
        #expect(manager.all().first == "READY=1\nSTATUS=1 of 2 accounts ready; quarantined: b")
    }

    @Test func watchdogNeedsWorkerAnswers() throws {
        let manager = try Manager()
        var service = ServiceManager(socket: try manager.socket(watchdog: "16000000"))
        #expect(service.beat == .seconds(4))
        var machine = machine(["a", "b"])
        for worker in 0...1 {
            _ = machine.reported(worker, .ready)
            service.heard(from: worker)
            _ = machine.answered(worker, generation: 1)
        }
        service.show(machine)
        _ = manager.all()
        service.beat(machine)
        #expect(manager.all() == ["WATCHDOG=1"])
        // No worker has answered since.
        service.beat(machine)
        service.heard(from: 0)
        service.beat(machine)
        #expect(manager.all() == [])
        // The silent worker is gone; the remaining ones have answered.
        fail(&machine, 1)
        service.beat(machine)
        #expect(manager.all().contains("WATCHDOG=1"))
    }

    @Test func watchdogBoundsPatience() throws {
        let service = ServiceManager(socket: try Manager().socket(watchdog: "16000000"))
        let adapted = service.adapted(SupervisorConfiguration(patience: .seconds(60)))
        #expect(adapted.patience == .seconds(8))
        #expect(adapted.pause == .seconds(2))
        #expect(service.adapted(SupervisorConfiguration()).patience == .seconds(8))
        #expect(service.adapted(SupervisorConfiguration(patience: .seconds(1))).patience == .seconds(1))
        #expect(ServiceManager(socket: nil).adapted(SupervisorConfiguration()).patience == nil)
    }

    @Test func notifiesReloadingAndStopping() throws {
        let manager = try Manager()
        var service = ServiceManager(socket: try manager.socket())
        service.reloading()
        #expect(manager.all() == [])
        var machine = machine(["a"])
        _ = machine.reported(0, .ready)
        service.show(machine)
        _ = manager.all()
        service.reloading()
        service.reloaded()
        service.stopping()
        service.stopping()
        let texts = manager.all()
        #expect(texts.count == 3)
        #expect(texts.first?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
        #expect(texts.dropFirst() == ["READY=1", "STOPPING=1"])
    }

    /// End to end: a supervisor with an answering worker sends all notifications in order.
    @Test func supervisorNotifiesManager() async throws {
        let manager = try Manager()
        let script = #"""
            import json, sys
            print('{"status":"ready"}', flush=True)
            for line in sys.stdin:
                print(json.dumps({"answer": json.loads(line)["id"], "result": {}}), flush=True)
            """#
        let supervisor = try Supervisor(
            workers: [python("w", script)], configuration: quick, clock: ContinuousClock(),
            generator: SplitMix64(seed: 3), notify: manager.socket(watchdog: "2000000"),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        async let run: Void = supervisor.run()
        var heard: [String] = []
        for await text in manager.texts() {
            heard.append(text)
            if text == "STOPPING=1" { break }
            if heard.count(where: { $0 == "WATCHDOG=1" }) == 3 { supervisor.drain() }
        }
        try await run
        #expect(heard.contains("READY=1\nSTATUS=1 of 1 accounts ready"))
        #expect(heard.last == "STOPPING=1")
    }
}
