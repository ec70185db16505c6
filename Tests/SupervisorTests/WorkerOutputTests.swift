import Testing

@testable import Supervisor

struct WorkerOutputTests {
    @Test(arguments: [
        (#"{"status":"starting"}"#, WorkerLine.status(.starting)),
        (#"{"status":"ready","relays":2}"#, .status(.ready)),
        (#"{"status":"draining"}"#, .status(.draining)),
        (#"{"event":"message","text":"hi"}"#, .event),
        (#"{"status":"ready","event":"x"}"#, .status(.ready)),
        (#"{"status":"flying"}"#, .unrecognised),
        (#"{"status":"flying","event":"x"}"#, .unrecognised),
        (#"{"status":7}"#, .unrecognised),
        (#"{"other":1}"#, .unrecognised),
        (#"["event"]"#, .unrecognised),
        (#"{"event":"#, .unrecognised),
        ("hello", .unrecognised),
        ("", .unrecognised),
    ])
    func parsesStatusAndEvents(line: String, expected: WorkerLine) {
        #expect(WorkerLine(line) == expected)
    }
}
