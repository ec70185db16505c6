import Nostr
import Testing

@testable import ConvergenceNode

struct NodeRequestTests {
    private static func line(_ command: String, protocolName: String = NodeRequest.protocolName) -> String {
        #"{"protocol":"\#(protocolName)","request_id":"a:1","command":\#(command)}"#
    }

    @Test func readsEveryCommand() throws {
        let commands: [(String, NodeRequest.Command)] = [
            (
                #"{"type":"initialize","participant":"a","root":"/r","relay_urls":["ws://127.0.0.1:1"]}"#,
                .initialize(participant: "a", root: "/r", relays: ["ws://127.0.0.1:1"])
            ),
            (#"{"type":"configure_peers","accounts_by_participant":{"b":"00"}}"#, .configurePeers(["b": "00"])),
            (
                #"{"type":"select_group","group":"main","group_id_hex":"ab"}"#,
                .selectGroup(group: "main", groupID: "ab")
            ),
            (
                #"""
                {"type":"create_group","action_id":"1","group":"main","name":"n","member_accounts":["00"],\#
                "initial_admin_accounts":[]}
                """#, .createGroup(action: "1", group: "main", name: "n", members: ["00"], admins: [])
            ),
            (
                #"{"type":"invite_members","action_id":"1","member_accounts":["00"]}"#,
                .inviteMembers(action: "1", members: ["00"])
            ),
            (
                #"{"type":"remove_members","action_id":"1","member_accounts":["00"]}"#,
                .removeMembers(action: "1", members: ["00"])
            ),
            (
                #"{"type":"update_group_data","action_id":"1","name":"n"}"#,
                .updateProfile(action: "1", name: "n", description: nil)
            ),
            (
                #"{"type":"update_group_profile","action_id":"1","name":null,"description":"d"}"#,
                .updateProfile(action: "1", name: nil, description: "d")
            ),
            (
                #"{"type":"update_admin_policy","action_id":"1","admin_accounts":["00"]}"#,
                .updateAdmins(action: "1", admins: ["00"])
            ),
            (#"{"type":"self_update","action_id":"1"}"#, .selfUpdate(action: "1")),
            (#"{"type":"send_application","action_id":"1","payload":"p"}"#, .send(action: "1", payload: "p")),
            (#"{"type":"leave","action_id":"1"}"#, .leave(action: "1")),
            (#"{"type":"catch_up","action_id":"1","full_history":true}"#, .catchUp(action: "1")),
            (#"{"type":"observe","action_id":"1"}"#, .observe(action: "1")),
            (#"{"type":"clear_events","action_id":"1"}"#, .clearEvents(action: "1")),
            (#"{"type":"pause_maintenance","action_id":"1"}"#, .setMaintenance(action: "1", isPaused: true)),
            (#"{"type":"resume_maintenance","action_id":"1"}"#, .setMaintenance(action: "1", isPaused: false)),
            (#"{"type":"barrier","action_id":"1","barrier":"x"}"#, .barrier(action: "1", name: "x")),
            (#"{"type":"shutdown","unknown":1}"#, .shutdown),
        ]
        for (text, command) in commands {
            #expect(try NodeRequest(Self.line(text)).command == command, "\(text)")
        }
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"type":"self_update"}"#, #"{"type":"dance","action_id":"1"}"#,
        #"{"type":"catch_up","action_id":"1"}"#, #"{"type":"invite_members","action_id":"1","member_accounts":[1]}"#,
        #"{"type":"configure_peers","accounts_by_participant":{"b":1}}"#,
    ])
    func refusesOtherCommands(text: String) {
        #expect(throws: NodeFailure.invalidJSON) { try NodeRequest(Self.line(text)) }
    }

    @Test func responsesOmitEmptyMembers() {
        func body(_ body: NodeResponse.Body) -> String {
            NodeResponse(request: "a:1", participant: "a", body: body).line
        }
        let head = #"{"protocol":"marmot-convergence-node-v1","request_id":"a:1","participant":"a","body":"#
        #expect(
            body(.done(action: "1", published: 0)) == head + #"{"type":"ack","action_id":"1","published":0}}"#)
        #expect(
            body(.done(action: "1", published: 1, messages: ["m"], groupID: "ab")) == head
                + #"{"type":"ack","action_id":"1","published":1,"message_ids":["m"],"group_id_hex":"ab"}}"#)
        #expect(
            body(.failed(.notInitialized)) == head
                + #"{"type":"error","code":"not_initialized","category":"protocol","retryable":false,"#
                + #""message":"send initialize first"}}"#)
        #expect(NodeResponse(request: "x", participant: nil, body: .shutdown).line.contains(#""participant":null"#))
    }
}
