import ArgumentParser
import BotProgram
import Foundation
import LiveTesting
import Nostr
import Testing

@testable import pikabot

@Suite(.live) struct RemoteTests {
    private func request<Command: ClientCommand>(_ type: Command.Type, _ arguments: String...) throws -> String {
        let command = try #require(try Pikabot.parseAsRoot(arguments) as? Command)
        return JSONValue.object(try command.remoteRequest()).jsonText
    }

    @Test func remoteCommandsAskDaemon() throws {
        let hex = ClientCommandTests.hex
        #expect(try request(Pikabot.Groups.self, "groups") == #"{"cmd":"list_groups"}"#)
        #expect(try request(Pikabot.Welcomes.self, "welcomes") == #"{"cmd":"list_pending_welcomes"}"#)
        #expect(
            try request(Pikabot.AcceptWelcome.self, "accept-welcome", "--event-id", hex)
                == #"{"cmd":"accept_welcome","wrapper_event_id":"\#(hex)"}"#)
        #expect(
            try request(Pikabot.Messages.self, "messages", "--group", "ab", "--limit", "5")
                == #"{"cmd":"get_messages","nostr_group_id":"ab","limit":5}"#)
        #expect(
            try request(Pikabot.Invite.self, "invite", "--peer", hex, "--name", "Club")
                == #"{"cmd":"init_group","peer_pubkey":"\#(hex)","group_name":"Club"}"#)
        #expect(
            try request(Pikabot.Invite.self, "invite", "--peer", hex, "--protocol", "v2")
                == #"{"cmd":"init_group","peer_pubkey":"\#(hex)","group_name":"DM","protocol":"v2"}"#)
        #expect(
            try request(
                Pikabot.Create.self, "create", "--name", "n", "--peer", hex, hex, "--on-missing", "skip")
                == #"{"cmd":"init_group","peer_pubkeys":["\#(hex)"],"on_missing":"skip","group_name":"n"}"#)
        #expect(
            try request(Pikabot.Add.self, "add", "--group", "ab", "--peer", hex)
                == #"{"cmd":"add_members","peer_pubkeys":["\#(hex)"],"on_missing":"fail","nostr_group_id":"ab"}"#)
        #expect(
            try request(Pikabot.Remove.self, "remove", "--group", "ab", "--peer", hex)
                == #"{"cmd":"remove_members","nostr_group_id":"ab","peer_pubkeys":["\#(hex)"]}"#)
        #expect(
            try request(Pikabot.Rename.self, "rename", "--group", "ab", "--name", "n")
                == #"{"cmd":"rename_group","nostr_group_id":"ab","name":"n"}"#)
        #expect(
            try request(Pikabot.Describe.self, "describe", "--group", "ab", "--description", "d")
                == #"{"cmd":"describe_group","nostr_group_id":"ab","description":"d"}"#)
        #expect(
            try request(Pikabot.Admins.self, "admins", "--group", "ab", "--set", hex)
                == #"{"cmd":"set_group_admins","nostr_group_id":"ab","admin_pubkeys":["\#(hex)"]}"#)
        #expect(
            try request(Pikabot.Relays.self, "relays", "--group", "ab", "--set", "ws://a.example")
                == #"{"cmd":"set_group_relays","nostr_group_id":"ab","relays":["ws://a.example"]}"#)
        #expect(
            try request(Pikabot.Leave.self, "leave", "--group", "ab")
                == #"{"cmd":"leave_group","nostr_group_id":"ab"}"#)
        #expect(
            try request(Pikabot.Leave.self, "leave", "--group", "ab", "--successor", hex)
                == #"{"cmd":"leave_group","nostr_group_id":"ab","successor":"\#(hex)"}"#)
        #expect(
            try request(Pikabot.Members.self, "members", "--group", "ab")
                == #"{"cmd":"list_members","nostr_group_id":"ab"}"#)
        #expect(
            try request(Pikabot.Disband.self, "disband", "--group", "ab")
                == #"{"cmd":"disband_group","nostr_group_id":"ab"}"#)
        #expect(
            try request(Pikabot.Disband.self, "disband", "--group", "ab", "--enable")
                == #"{"cmd":"enable_disbanding","nostr_group_id":"ab"}"#)
        #expect(
            try request(Pikabot.PublishKeyPackage.self, "publish-kp", "--relay", "ws://a.example")
                == #"{"cmd":"publish_keypackage","relays":["ws://a.example"]}"#)
        #expect(
            try request(Pikabot.Send.self, "send", "--group", "ab", "--content", "hi")
                == #"{"cmd":"send_message","nostr_group_id":"ab","content":"hi"}"#)
        #expect(
            try request(
                Pikabot.Send.self, "send", "--group", "ab", "--media", "/f", "--filename", "g", "--blossom", "http://b")
                == #"{"cmd":"send_media","nostr_group_id":"ab","file_path":"/f","caption":"","#
                + #""filename":"g","blossom_servers":["http://b"]}"#)
        #expect(
            try request(
                Pikabot.SendHypernote.self, "send-hypernote", "--group", "ab", "--content", "x", "--title", "t",
                "--state", "{}")
                == #"{"cmd":"send_hypernote","nostr_group_id":"ab","content":"x","title":"t","state":"{}"}"#)
    }

    @Test func refusesCommandsUnsupportedByDaemon() throws {
        #expect(throws: CommandError.self) {
            try request(Pikabot.Send.self, "send", "--to", ClientCommandTests.hex, "--content", "x")
        }
        #expect(throws: CommandError.self) { try request(Pikabot.Profile.self, "profile") }
        #expect(throws: CommandError.self) {
            try request(Pikabot.DownloadMedia.self, "download-media", ClientCommandTests.hex)
        }
    }

    @Test func longDirectoryMovesSocket() {
        #expect(DaemonSocketPath.path(stateDirectory: "/s/../t/") == "/t/daemon.sock")
        let long = "/" + String(repeating: "x", count: 87)
        #expect(DaemonSocketPath.path(stateDirectory: long) == long + "/daemon.sock")
        let path = DaemonSocketPath.path(stateDirectory: long + "y", temporaryDirectory: "/tmp")
        #expect(path.wholeMatch(of: /\/tmp\/pikachat-daemon-[0-9a-f]{16}\.sock/) != nil)
        #expect(path != DaemonSocketPath.path(stateDirectory: long + "z", temporaryDirectory: "/tmp"))
        #expect(path == DaemonSocketPath.path(stateDirectory: long + "y", temporaryDirectory: "/tmp"))
    }

    @Test func refusesSocketOfAnotherUser() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let file = directory + "/socket"
            try Data().write(to: URL(fileURLWithPath: file))
            let state = directory + "/state"
            try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
            #expect(DaemonSocketPath.isGenuine(file, stateDirectory: state))
            #expect(DaemonSocketPath.isGenuine(directory + "/none", stateDirectory: state))
            // Root can give the file away; for anyone else, a file of root is another user's.
            let foreign = geteuid() == 0 ? file : "/etc/passwd"
            if geteuid() == 0 { #expect(chown(file, 1, 1) == 0) }
            #expect(!DaemonSocketPath.isGenuine(foreign, stateDirectory: state))
            // Nobody else can create files in the state directory.
            let folder = URL(fileURLWithPath: foreign).deletingLastPathComponent().path
            #expect(DaemonSocketPath.isGenuine(foreign, stateDirectory: folder))
        }
    }

    @Test func matchesAnswerByRequestID() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let daemon = try FakeDaemon(path: directory + "/daemon.sock")
            daemon.answer { id in
                [
                    #"{"type":"group_updated","update":{}}"#, "no json", #"{"type":"ok","request_id":"other"}"#,
                    #"{"type":"ok","request_id":"\#(id)","result":{"groups":[]}}"#,
                ]
            }
            #expect(try DaemonConnection.call(["cmd": "list_groups"], stateDirectory: directory) == ["groups": []])
            daemon.answer { [#"{"type":"ok","request_id":"\#($0)"}"#] }
            #expect(try DaemonConnection.call(["cmd": "shutdown"], stateDirectory: directory) == .null)
            daemon.answer {
                [#"{"type":"error","request_id":"\#($0)","code":"bad_group_id","message":"no such group"}"#]
            }
            let refused = #expect(throws: CommandError.self) {
                try DaemonConnection.call(["cmd": "leave_group"], stateDirectory: directory)
            }
            #expect(refused?.description == "the daemon answered bad_group_id: no such group")
            daemon.answer { _ in [] }
            let ended = #expect(throws: CommandError.self) {
                try DaemonConnection.call(["cmd": "leave_group"], stateDirectory: directory)
            }
            #expect(ended?.description == "the daemon closed the connection before answering")
        }
    }

    @Test func missingDaemonErrorGivesAdvice() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let error = #expect(throws: CommandError.self) {
                try DaemonConnection.call(["cmd": "list_groups"], stateDirectory: directory)
            }
            #expect(error?.description.contains("start one with: pikabot daemon, or omit --remote") == true)
        }
    }
}

/// Listens on a Unix socket; each connection gets one request answered.
private final class FakeDaemon: Sendable {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0 && listen(descriptor, 5) == 0)
    }

    deinit { close(descriptor) }

    /// Answers the next connection with the lines for its request's id, then closes it.
    func answer(_ lines: @escaping @Sendable (String) -> [String]) {
        let descriptor = descriptor
        Thread.detachNewThread {
            let connection = accept(descriptor, nil, nil)
            defer { close(connection) }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0, let request = try? JSONValue(json: Array(buffer.prefix(count - 1))) else { return }
            for line in lines(request["request_id"]?.string ?? "") {
                let bytes = Array((line + "\n").utf8)
                send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            }
        }
    }
}
