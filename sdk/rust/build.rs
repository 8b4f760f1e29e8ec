//! Makes messages, stubs, and the client's facts about methods, from the descriptors of the interface.

use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::method_options::IdempotencyLevel;
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};

const DESCRIPTORS: &str = "signpost.binpb";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={DESCRIPTORS}");
    let bytes =
        fs::read(DESCRIPTORS).map_err(|error| format!("{DESCRIPTORS}: {error}; `npm run sdk rust` makes it"))?;
    let mut descriptors = FileDescriptorSet::decode(bytes.as_slice())?;
    // The other packages hold options that tell how the service answers; no client reads them.
    let kept = ["signpost.v1", "signpost.options.v1", "google.protobuf"];
    descriptors.file.retain(|file| kept.contains(&file.package()) || file.name() == "google/api/httpbody.proto");

    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("methods.rs"), methods(&descriptors.file)?)?;
    fs::write(out.join("pages.rs"), pages(&descriptors.file)?)?;
    fs::write(out.join("services.rs"), services(&descriptors.file)?)?;
    tonic_prost_build::configure().build_server(false).include_file("signpost.rs").compile_fds(descriptors)?;
    Ok(())
}

/// Writes a method for the stub of every service, named without `Service`: `client.links()`, `client.workflow_steps()`.
fn services(files: &[FileDescriptorProto]) -> Result<String, std::fmt::Error> {
    let mut source = String::from("impl Client {\n");
    for service in files.iter().flat_map(|file| &file.service) {
        let name = service.name();
        let module = snake_case(name);
        let method = module.trim_end_matches("_service");
        writeln!(
            source,
            "    /// The calls of {name}.\n    pub fn {method}(&self) -> \
             crate::v1::{module}_client::{name}Client<Transport> {{\n        \
             self.service(crate::v1::{module}_client::{name}Client::new)\n    }}"
        )?;
    }
    source.push_str("}\n");
    Ok(source)
}

/// Writes `reads(path)`: whether a method changes nothing, by its declared idempotency level.
fn methods(files: &[FileDescriptorProto]) -> Result<String, std::fmt::Error> {
    let mut source =
        String::from("pub(crate) fn reads(path: &str) -> bool {\n    matches!(\n        path,\n        \"\"");
    for file in files {
        for service in &file.service {
            for method in &service.method {
                let level = method.options.as_ref().map(|options| options.idempotency_level());
                if level == Some(IdempotencyLevel::NoSideEffects) {
                    let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                    write!(source, "\n            | {path:?}")?;
                }
            }
        }
    }
    source.push_str("\n    )\n}\n");
    Ok(source)
}

/// Implements `PageRequest` and `Page` for the messages of every list call: a request with `page_token`, a response
/// with `next_page_token` and one list of messages, or with `json` that has both.
fn pages(files: &[FileDescriptorProto]) -> Result<String, std::fmt::Error> {
    let messages: Vec<&DescriptorProto> =
        files.iter().filter(|file| file.package() == "signpost.v1").flat_map(|file| &file.message_type).collect();
    let mut source = String::new();
    for message in &messages {
        let name = message.name();
        if field(message, "page_token").is_some() {
            writeln!(
                source,
                "impl PageRequest for v1::{name} {{\n    fn set_page_token(&mut self, token: String) {{\n        \
                 self.page_token = token;\n    }}\n}}"
            )?;
        }
        if let Some((list, item)) = listed(message) {
            page(&mut source, name, &item, &format!("(self.{list}, self.next_page_token)"))?;
        }
        let json = field(message, "json").and_then(|json| {
            let of = messages.iter().find(|other| other.name() == local(json.type_name()))?;
            listed(of)
        });
        if let Some((list, item)) = json {
            let parts = format!("self.json.map(|json| (json.{list}, json.next_page_token)).unwrap_or_default()");
            page(&mut source, name, &item, &parts)?;
        }
    }
    Ok(source)
}

fn page(source: &mut String, name: &str, item: &str, parts: &str) -> std::fmt::Result {
    writeln!(
        source,
        "impl Page for v1::{name} {{\n    type Item = v1::{item};\n    fn into_parts(self) -> (Vec<v1::{item}>, \
         String) {{\n        {parts}\n    }}\n}}"
    )
}

/// The one list of messages in a page: its field and the type of its elements.
fn listed(message: &DescriptorProto) -> Option<(String, String)> {
    field(message, "next_page_token")?;
    let mut lists =
        message.field.iter().filter(|field| field.label() == Label::Repeated && field.r#type() == Type::Message);
    match (lists.next(), lists.next()) {
        (Some(list), None) => Some((list.name().to_owned(), local(list.type_name()).to_owned())),
        _ => None,
    }
}

fn field<'a>(message: &'a DescriptorProto, name: &str) -> Option<&'a FieldDescriptorProto> {
    message.field.iter().find(|field| field.name() == name)
}

fn local(type_name: &str) -> &str {
    type_name.rsplit('.').next().unwrap_or(type_name)
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
