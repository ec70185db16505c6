/// The daemon commands of external bots, by their names on the wire.
package enum ProgramCommands {
    /// The commands allowed by default.
    package static let standard: Set<String> = ["send_message", "react", "send_typing", "send_hypernote"]

    /// The commands that a configuration may allow to a program. `hello`, `ack` and `shutdown` need no permission, and
    /// the relays of the account are set by the configuration only.
    package static let known: Set<String> = [
        "publish_keypackage", "list_pending_welcomes", "accept_welcome", "list_groups", "init_group",
        "add_members", "list_members", "remove_members", "leave_group", "disband_group", "enable_disbanding",
        "rename_group", "describe_group", "set_group_admins", "set_group_relays",
        "get_group_profile", "update_group_profile", "upload_group_profile_image", "send_message", "send_hypernote",
        "hypernote_catalog", "react", "submit_hypernote_action", "send_media", "send_media_batch", "send_typing",
        "get_messages", "invite_call", "accept_call", "reject_call", "end_call", "get_call", "send_audio_file",
        "send_audio_response", "send_call_data", "register_push_token", "remove_push_token", "set_push_notifications",
    ]
}
