//! What do the usual variables and profile files say?

use std::{fs, io::ErrorKind, path::PathBuf};

use super::{
    config::{Ec2Config, Ec2ConfigError},
    credentials::Ec2Credentials,
    profile::{Settings, section},
};

/// A profile and the files that may speak of it.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    name: String,
    credentials: Option<PathBuf>,
    config: Option<PathBuf>,
}

pub(super) fn read(variable: &dyn Fn(&str) -> Option<String>) -> Result<Ec2Config, Ec2ConfigError> {
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    let file = |name: &str, usual: &str| {
        let usual = || Some(PathBuf::from(home.as_ref()?).join(".aws").join(usual));
        variable(name).map(PathBuf::from).or_else(usual)
    };
    let profile = Profile {
        name: variable("AWS_PROFILE").unwrap_or_else(|| "default".to_owned()),
        credentials: file("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
        config: file("AWS_CONFIG_FILE", "config"),
    };
    let settings = profile.settings()?;
    let region = variable("AWS_REGION")
        .or_else(|| variable("AWS_DEFAULT_REGION"))
        .or_else(|| settings.get("region").cloned())
        .ok_or_else(|| Ec2ConfigError::NoRegion(profile.name.clone()))?;
    let mut config = match keys(variable)? {
        Some(credentials) => Ec2Config::new(region, credentials)?,
        None => {
            let credentials = profile.credentials_in(&settings)?;
            let none = || Ec2ConfigError::NoCredentials(profile.name.clone());
            let mut config = Ec2Config::new(region, credentials.ok_or_else(none)?)?;
            config.profile = Some(profile);
            config
        }
    };
    let ignored = variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
    if ignored.is_some_and(|ignored| ignored.eq_ignore_ascii_case("true")) {
        return Ok(config);
    }
    let endpoint = |name: &str| {
        variable(name)
            .or_else(|| variable("AWS_ENDPOINT_URL"))
            .or_else(|| settings.get("endpoint_url").cloned())
    };
    if let Some(address) = endpoint("AWS_ENDPOINT_URL_EC2") {
        config = config.with_ec2_endpoint(&address)?;
    }
    if let Some(address) = endpoint("AWS_ENDPOINT_URL_STS") {
        config = config.with_sts_endpoint(&address)?;
    }
    Ok(config)
}

fn keys(
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Ec2Credentials>, Ec2ConfigError> {
    match (variable(KEYS.0), variable(KEYS.1)) {
        (Some(id), Some(secret)) => {
            let token = variable("AWS_SESSION_TOKEN");
            Ok(Some(Ec2Credentials::new(id, secret, token)))
        }
        (None, None) => Ok(None),
        (Some(_), None) => Err(Ec2ConfigError::HalfOfAKeyPair(KEYS.0)),
        (None, Some(_)) => Err(Ec2ConfigError::HalfOfAKeyPair(KEYS.1)),
    }
}

impl Profile {
    /// Reads the credentials; none where the profile has none.
    pub(super) fn credentials(&self) -> Result<Option<Ec2Credentials>, Ec2ConfigError> {
        self.credentials_in(&self.settings()?)
    }

    /// Reads what both files say; the file of credentials has the last word.
    fn settings(&self) -> Result<Settings, Ec2ConfigError> {
        let heading = format!("profile {}", self.name);
        let is_default = self.name == "default";
        let mut settings = section(&text(self.config.as_ref())?, |section| {
            let words: Vec<_> = section.split_whitespace().collect();
            words.join(" ") == heading || (is_default && section == "default")
        });
        let keys = section(&text(self.credentials.as_ref())?, |section| {
            section == self.name
        });
        // A pair is taken from one file: halves of two are none, nor is the token of another.
        if keys.contains_key(PAIR.0) || keys.contains_key(PAIR.1) {
            settings.retain(|name, _| ![PAIR.0, PAIR.1, TOKEN].contains(&name.as_str()));
        }
        settings.extend(keys);
        Ok(settings)
    }

    fn credentials_in(
        &self,
        settings: &Settings,
    ) -> Result<Option<Ec2Credentials>, Ec2ConfigError> {
        match (settings.get(PAIR.0), settings.get(PAIR.1)) {
            (Some(id), Some(secret)) => Ok(Some(Ec2Credentials::new(
                id,
                secret,
                settings.get(TOKEN).cloned(),
            ))),
            (Some(_), None) => Err(Ec2ConfigError::HalfOfAKeyPair(PAIR.0)),
            (None, Some(_)) => Err(Ec2ConfigError::HalfOfAKeyPair(PAIR.1)),
            (None, None) => match UNSUPPORTED
                .iter()
                .find(|name| settings.contains_key(**name))
            {
                Some(setting) => Err(Ec2ConfigError::UnsupportedProfile {
                    profile: self.name.clone(),
                    setting: (*setting).to_owned(),
                }),
                None => Ok(None),
            },
        }
    }
}

/// Reads a file; one that is not there says nothing.
fn text(path: Option<&PathBuf>) -> Result<String, Ec2ConfigError> {
    let Some(path) = path else {
        return Ok(String::new());
    };
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(source) => Err(Ec2ConfigError::File {
            path: path.display().to_string(),
            source,
        }),
    }
}

const KEYS: (&str, &str) = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
const PAIR: (&str, &str) = ("aws_access_key_id", "aws_secret_access_key");
const TOKEN: &str = "aws_session_token";
const UNSUPPORTED: [&str; 6] = [
    "role_arn",
    "credential_process",
    "sso_session",
    "sso_start_url",
    "web_identity_token_file",
    "login_session",
];
