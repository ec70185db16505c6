import LiveTesting
import Logging
import Supervisor
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite(.live)
struct SupervisorDeathTests {
    /// The supervisor is killed with SIGKILL; its worker reports the end of its standard input through a FIFO.
    @Test func workersEndWithKilledSupervisor() async throws {
        var template = Array("/tmp/pikabot-supervisor-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        let fifo = folder + "/fifo"
        defer {
            unlink(fifo)
            rmdir(folder)
        }
        try #require(mkfifo(fifo, 0o600) == 0)
        let reader = open(fifo, O_RDONLY | O_NONBLOCK)
        try #require(reader >= 0)
        defer { close(reader) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [fifo = fifo as String] in
            let script = #"echo '{"status":"ready"}'; cat >/dev/null; echo gone > "$FIFO""#
            let worker = shell("w", script, environment: ["FIFO": fifo])
            let supervisor = try Supervisor(
                workers: [worker], clock: ContinuousClock(), generator: SystemRandomNumberGenerator(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                observe: { event in
                    if event == .ready(worker: "w") { kill(getpid(), SIGKILL) }
                })
            try await supervisor.run()
        }
        var wait = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&wait, 1, 20_000) == 1)
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(read(reader, &buffer, 16) == 5)
        #expect(String(decoding: buffer.prefix(5), as: UTF8.self) == "gone\n")
    }
}
