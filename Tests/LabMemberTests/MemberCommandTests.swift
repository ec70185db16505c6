import Nostr
import PikaCore
import Testing

@testable import pikabot_lab

@Suite struct MemberCommandTests {
    private static let hex = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"

    @Test func parsesEveryCommand() throws {
        let key = try PublicKey(hex: Self.hex)
        let members = "\"members\": [\"\(Self.hex)\", \"\(key.npub)\"]"
        let lines: [(String, MemberCommand.Operation)] = [
            (#"{"cmd":"publish_kp"}"#, .publishKeyPackage),
            (#"{"cmd":"create_group","name":"n",\#(members)}"#, .createGroup(name: "n", members: [key, key])),
            (#"{"cmd":"create_chat","peer":"\#(key.npub)"}"#, .createChat(peer: key)),
            (#"{"cmd":"send","group":"g","content":"c\n"}"#, .send(group: "g", content: "c\n")),
            (#"{"cmd":"rename","group":"g","name":"n"}"#, .rename(group: "g", name: "n")),
            (
                #"{"cmd":"set_description","group":"g","description":"d"}"#,
                .setDescription(group: "g", description: "d")
            ),
            (
                #"{"cmd":"set_relays","group":"g","relays":["ws://127.0.0.1:1"]}"#,
                .setRelays(group: "g", relays: [try RelayURL("ws://127.0.0.1:1")])
            ),
            (#"{"cmd":"set_admins","group":"g",\#(members)}"#, .setAdmins(group: "g", admins: [key, key])),
            (#"{"cmd":"self_update","group":"g"}"#, .selfUpdate(group: "g")),
            (#"{"cmd":"self_demote","group":"g"}"#, .selfDemote(group: "g")),
            (#"{"cmd":"rotate_id","group":"g"}"#, .rotateID(group: "g")),
            (#"{"cmd":"upgrade","group":"g"}"#, .upgrade(group: "g")),
            (#"{"cmd":"leave","group":"g"}"#, .leave(group: "g")),
            (#"{"cmd":"add","group":"g",\#(members)}"#, .add(group: "g", members: [key, key])),
            (#"{"cmd":"remove","group":"g",\#(members)}"#, .remove(group: "g", members: [key, key])),
            (
                #"{"cmd":"send_media","group":"g","path":"/p","filename":"f","mime":"text/plain"}"#,
                .sendMedia(group: "g", path: "/p", filename: "f", type: "text/plain", caption: "", server: nil)
            ),
            (
                #"{"cmd":"download_media","group":"g","message":"\#(Self.hex)","index":2,"path":"/p"}"#,
                .downloadMedia(group: "g", message: try EventID(hex: Self.hex), index: 2, path: "/p")
            ),
            (#"{"cmd":"set_image","group":"g"}"#, .setImage(group: "g", path: nil, type: "")),
            (#"{"cmd":"download_image","group":"g","path":"/p"}"#, .downloadImage(group: "g", path: "/p")),
            (#"{"cmd":"shutdown"}"#, .shutdown),
        ]
        for (line, operation) in lines {
            let command = try MemberCommand(line: line)
            #expect(command.operation == operation)
            #expect(line.contains("\"\(command.name)\""))
        }
    }

    @Test(arguments: [
        ("", "", "expected a JSON object with cmd"), ("[1]", "", "expected a JSON object with cmd"),
        (#"{"cmd":7}"#, "", "expected a JSON object with cmd"), (#"{"cmd":"dance"}"#, "dance", "unknown command"),
        (#"{"cmd":"send","group":"g"}"#, "send", "content must be a string"),
        (#"{"cmd":"rename","group":1,"name":"n"}"#, "rename", "group must be a string"),
        (#"{"cmd":"leave"}"#, "leave", "group must be a string"),
        (#"{"cmd":"create_chat","peer":"00"}"#, "create_chat", "peer must be a public key"),
        (#"{"cmd":"set_relays","group":"g","relays":["http://x"]}"#, "set_relays", "relays must be a list of relays"),
        (
            #"{"cmd":"download_media","group":"g","message":"x","path":"p"}"#, "download_media",
            "message must be an event id"
        ),
        (#"{"cmd":"add","group":"g","members":[]}"#, "add", "members must be a list of public keys"),
        (#"{"cmd":"add","group":"g","members":["00"]}"#, "add", "members must be a list of public keys"),
        (#"{"cmd":"add","group":"g","members":[3]}"#, "add", "members must be a list of public keys"),
    ])
    func errorNamesItsCommand(line: String, name: String, message: String) {
        let problem = #expect(throws: MemberCommand.Problem.self) { try MemberCommand(line: line) }
        #expect(problem?.name == name)
        #expect(problem?.message == message)
    }
}
